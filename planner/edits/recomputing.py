"""Edits that change when values are live: recomputed, or computed later.

Op names tell which pass a value belongs to (`hlo.op_names`). The compiler recomputes the values of
a checkpoint for the backward pass; the plan cannot predict at which step. At least, recomputed
values take nothing. At most, each one lives from its first backward reader on.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from xlagraph.hlo.op_names import is_recomputed
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.edit import Edit, Edited, Replanned
from xlagraph.planner.edits.effect_sentences import saved_range_text
from xlagraph.planner.edits.loop_stacks import loop_stacks, stacks_of_scope
from xlagraph.planner.edits.passes import Passes, inputs_of_layers
from xlagraph.planner.edits.patterns import in_scope, similar_scopes
from xlagraph.planner.edits.recomputed_values import recomputed
from xlagraph.planner.edits.resizing import ids_of
from xlagraph.planner.planned_program import PlannedProgram, PlannedValue
from xlagraph.planner.value_changes import with_shrunk_values, without_values
from xlagraph.presentation.byte_sizes import counted
from xlagraph.queries.errors import NoSuchName

_LEAST_STACKED: Final = 1 / 8
"""Least share of the recomputed values that loops stack, if these show what is saved."""
_RECOMPUTED_EARLY_ON_CPU = (
    "in the default order of a CPU values are recomputed long before they are read, so that a"
    " checkpoint outside of a loop saves little: add --schedule memory"
)
_RECOMPUTED_WHEN_READ = (
    "values are assumed to be recomputed one by one where they are read; the compiler may hold what"
    " is computed on the way to them at the same time, or keep a first result that it reads again"
)


@dataclass(frozen=True, slots=True)
class Checkpoint(Edit):
    """Put a checkpoint around a scope.

    Forward values of the scope that another scope reads are kept, because they are its inputs and
    outputs. The others end with their last forward reader. A loop that stacks values for the
    backward loop (`lax.scan`) stacks fewer of them.
    """

    scope: str
    is_early: bool = False
    """True if the compiler may recompute long before values are read, except in loops."""

    @property
    def arguments(self) -> tuple[str, ...]:
        return "--checkpoint", self.scope

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        """Return the program after the edit; raise NoSuchName if the scope frees nothing."""
        dropped = self._dropped(compilation, program)
        edited = recomputed(compilation, program, dropped)
        if is_early := self.is_early and not edited.is_of_loops:
            edited = recomputed(compilation, program, dropped, dropped - edited.stacked_ids)
        if not edited.recomputed_count:
            raise NoSuchName(
                f"scope '{self.scope}' of {compilation.key} keeps no value for the backward pass"
            )
        by_id = edited.program.by_id
        changed = frozenset(
            value.value_id for value in program.values if by_id.get(value.value_id) != value
        )
        size_bytes = program.bytes_of(changed)
        return replace(
            edited,
            value_ids=changed,
            sizes=(size_bytes, size_bytes),
            assumptions=self._assumptions(edited, is_early=is_early),
        )

    def _assumptions(self, edited: Edited, *, is_early: bool) -> tuple[str, ...]:
        if edited.is_of_loops:
            return ()
        return (_RECOMPUTED_EARLY_ON_CPU if is_early else _RECOMPUTED_WHEN_READ,)

    def _dropped(self, compilation: PlannableCompilation, program: PlannedProgram) -> set[int]:
        """Return the values of the scope that nothing else reads forward, and its stacks."""
        made = [
            value
            for value in program.values
            if _is_forward(compilation.values.get(value.value_id), self.scope)
        ]
        stacks = stacks_of_scope(compilation, program, self.scope)
        if not made and not stacks:
            op_names = {
                value.known_op_name
                for value in compilation.values.values()
                if value.known_op_name is not None and not value.is_backward
            }
            raise NoSuchName(
                f"no forward value of {compilation.key} has a scope called '{self.scope}'",
                similar_scopes(self.scope, op_names),
            )
        inner = {value.value_id for value in made}
        passes = Passes(compilation, program)
        dropped = {
            value.value_id: value
            for value in made
            if all(reader.value_id in inner for reader in passes.readers(value)[1])
        }
        kept = inner - dropped.keys()
        return set(stacks) | {
            each for each, value in dropped.items() if not _is_copy_of(compilation, value, kept)
        }

    def sentence(self, after: Replanned, before: Replanned) -> str:
        assert after.edited is not None  # noqa: S101 - it is the state after this edit
        count, stacked = after.edited.recomputed_count, len(after.edited.stacked_ids)
        text = f"{counted(count, 'value')} that {self.scope} keeps for the backward pass"
        if stacked:
            text += f", {stacked} of them stacked by a loop,"
        verb = "is" if count == 1 else "are"
        return f"{text} {verb} recomputed; {saved_range_text(after, before)}"


@dataclass(frozen=True, slots=True)
class _Timing(Edit):
    """An edit of the values with these labels that `whatif` has no option for."""

    labels: tuple[str, ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        return ()

    def sentence(self, after: Replanned, before: Replanned) -> str:
        return saved_range_text(after, before)


@dataclass(frozen=True, slots=True)
class Recompute(_Timing):
    """Recompute values for the backward pass; if one is stacked by a loop, all of its stacks.

    A checkpoint keeps its inputs. The most assumes one around each layer; the least, one around
    each of the parts that need the fewest bytes.
    """

    again: bool = False
    """True if a checkpoint recomputes the values already, all at once."""

    def passes_of(self, compilation: PlannableCompilation) -> PlannableCompilation:
        """Return the compilation with the values in its forward pass."""
        return compilation.without_checkpoints if self.again else compilation

    def stacks(self, compilation: PlannableCompilation) -> set[int]:
        """Return all stacks of the loops that stack one of the values."""
        compilation = self.passes_of(compilation)
        named, program = ids_of(compilation, self.labels), compilation.program
        found: set[int] = set()
        for stacks in loop_stacks(compilation, program, program.by_id):
            if not stacks.value_ids.isdisjoint(named):
                found |= stacks.value_ids
        return found

    def is_shown_by_stacks(self, compilation: PlannableCompilation) -> bool:
        """Return True if enough of the values are stacks to show what a checkpoint saves.

        What the loop of a loss stacks says little about checkpoints around layers.
        """
        bytes_of = compilation.program.bytes_of
        stacked = bytes_of(self.stacks(compilation))
        return stacked >= _LEAST_STACKED * bytes_of(ids_of(compilation, self.labels))

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        value_ids = ids_of(compilation, self.labels) | self.stacks(compilation)
        compilation = self.passes_of(compilation)
        inputs = inputs_of_layers(compilation, program, value_ids)
        edited = recomputed(compilation, program, value_ids, inputs, in_parts=True)
        return replace(edited, is_certain=edited.is_of_loops)


@dataclass(frozen=True, slots=True)
class RecomputeInLoop(_Timing):
    """Put equal parts of a program into a loop, and a checkpoint around its body.

    The loop orders what is recomputed, whatever barriers a compiler drops. At best what is
    recomputed, and the other values of the parts, such as gradients, are of one part at a time.
    What a compiler computes from inputs for all parts first, the loop computes in each iteration.
    """

    part_count: int = 1
    others: tuple[str, ...] = ()
    """Labels of the other values of the parts."""

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        edited = Recompute(self.labels).apply(compilation, program)
        begins = dict(_needed_steps(compilation, program, ids_of(compilation, self.labels)))
        best = _beginning(edited.program, begins)
        of_parts = ids_of(compilation, self.others) | (best.by_id.keys() - program.by_id)
        kept = dict.fromkeys(of_parts, Fraction(1, self.part_count))
        return replace(
            edited,
            program=with_shrunk_values(best, kept),
            most=best if edited.most is None else _beginning(edited.most, begins),
        )


class Defer(_Timing):
    """Recompute values no earlier than the backward pass reads them.

    Inputs of a checkpoint, from which another scope recomputes, are kept.
    """

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        removed: set[int] = set()
        begins: dict[int, int] = {}
        passes = Passes(compilation, program)
        for value in program.values_of(ids_of(compilation, self.labels)):
            readers, _ = passes.readers(value)
            recomputing = [each for each in readers if is_recomputed(_op_name(compilation, each))]
            scope = _scope(compilation, value)
            if any(_scope(compilation, reader) != scope for reader in recomputing):
                continue
            removed.add(value.value_id)
            needed = [reader.live_from for reader in readers if reader not in recomputing]
            begins[value.value_id] = max(value.live_from, min(needed, default=value.live_until))
        return Edited(
            without_values(program, removed),
            _beginning(program, begins),
            frozenset(removed),
            is_certain=False,
        )


class Move(_Timing):
    """Compute values where they are first read.

    The least assumes that their operands are not kept longer, the most that they are kept
    until then.
    """

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        by_id = program.by_id
        begins: dict[int, int] = {}
        kept_until: dict[int, int] = {}
        for value in program.values_of(ids_of(compilation, self.labels)):
            readers = compilation.readers.get(value.value_id, ())
            reads = [by_id[each].live_from for each in readers if each in by_id]
            begin = max(value.live_from, min(reads, default=value.live_until))
            begins[value.value_id] = begin
            for operand in value.reads:
                kept_until[operand] = max(begin, kept_until.get(operand, 0))
        moved = _beginning(program, begins)
        kept = [
            value._replace(live_until=max(value.live_until, kept_until.get(value.value_id, 0)))
            for value in moved.values
        ]
        most = replace(program, values=tuple(kept))
        return Edited(moved, most, frozenset(begins), is_certain=False)


def _needed_steps(
    compilation: PlannableCompilation, program: PlannedProgram, value_ids: Iterable[int]
) -> Iterator[tuple[int, int]]:
    """Yield those of the values that are computed from inputs, with the step of the first read."""
    by_id = program.by_id
    for value in program.values_of(value_ids):
        readers = (by_id.get(each) for each in compilation.readers.get(value.value_id, ()))
        begin = min((each.live_from for each in readers if each is not None), default=0)
        if begin > value.live_from and all(by_id[each].is_stored for each in value.reads):
            yield value.value_id, begin


def _beginning(program: PlannedProgram, begins: Mapping[int, int]) -> PlannedProgram:
    """Return the program in which these values begin at other steps."""
    values = [
        value._replace(live_from=begins.get(value.value_id, value.live_from))
        for value in program.values
    ]
    return replace(program, values=tuple(values))


def _is_copy_of(
    compilation: PlannableCompilation, value: PlannedValue, kept: Collection[int]
) -> bool:
    """Return True for a copy that the compiler made of a kept value, which it stands for later."""
    by_id, is_made = compilation.program.by_id, compilation.values[value.value_id].op_name is None
    read = [by_id[each] for each in value.reads if each in by_id]
    return is_made and [each.size_bytes for each in read if each.value_id in kept] == [
        value.size_bytes
    ]


def _op_name(compilation: PlannableCompilation, value: PlannedValue) -> str:
    stored = compilation.values.get(value.value_id)
    return (stored.known_op_name if stored is not None else None) or ""


def _scope(compilation: PlannableCompilation, value: PlannedValue) -> str:
    return _op_name(compilation, value).rpartition("/")[0]


def _is_forward(value: StoredValue | None, scope: str) -> bool:
    if value is None or value.known_op_name is None or value.is_backward:
        return False
    return in_scope(scope, value.known_op_name)
