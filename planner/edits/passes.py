"""Find the passes of a program: readers and instructions of each, and what checkpoints keep."""

from collections.abc import Collection
from functools import cache
from typing import Final

from xlagraph.hlo.op_names import scope_names
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.edits.loop_stacks import MOVED_ELEMENTS
from xlagraph.planner.orders.rules import post_order
from xlagraph.planner.orders.schedulable import SchedulableProgram
from xlagraph.planner.planned_program import PlannedProgram, PlannedValue, begin_of

_SCALAR_BYTES: Final = 8
"""A number, such as the inverse of a sum of weights, may be computed before the loss."""


def inputs_of_layers(
    compilation: PlannableCompilation, program: PlannedProgram, value_ids: Collection[int]
) -> set[int]:
    """Return those of the values, and of what their layers compute from them, that others read.

    Layers are the outermost scopes in which the values differ. If there are none, each value is a
    layer, and what is computed from it for another one counts as that.
    """
    scopes = {
        each: scope_names(compilation.values[each].known_op_name)[:-1]
        for each in value_ids
        if each in program.by_id
    }
    deepest = max(map(len, scopes.values()), default=0)
    depth = next(
        (n for n in range(1, deepest + 1) if len({names[:n] for names in scopes.values()}) > 1), 0
    )
    layers = {each: names[:depth] or (str(each),) for each, names in scopes.items()}

    @cache
    def layer_of(value_id: int) -> tuple[str, ...]:
        names = scope_names(compilation.values[value_id].known_op_name)[:-1]
        return layers.get(value_id, names[:depth])

    passes = Passes(compilation, program)

    @cache
    def forward_readers(value_id: int) -> list[int]:
        return [each.value_id for each in passes.readers(program.by_id[value_id])[1]]

    found: set[int] = set()
    inner, known = [*layers], set(layers)
    while inner:
        each = inner.pop()
        waiting, seen = [each], {each}
        own = layer_of(each)
        while waiting:
            for reader in forward_readers(waiting.pop()):
                other = layer_of(reader)
                if not other and reader not in seen:
                    seen.add(reader)
                    waiting.append(reader)
                elif other == own and reader not in known:
                    known.add(reader)
                    inner.append(reader)
                elif other and other != own:
                    found.add(each)
    return found


def forward_instructions(
    program: SchedulableProgram, compilation: PlannableCompilation
) -> frozenset[int]:
    """Return the instructions of the entry that the backward pass needs, and those of the loss.

    So does what returns the results: of one that is recomputed, the first one is returned. A
    compiler may have merged an instruction of the backward pass with one of the forward pass.
    """
    backward = {
        program.step_in_entry(value.defined_at)
        for value in program.values
        if value.value_id in compilation.backward_ids
    }
    order = post_order(program, program.entry)
    marked: set[int] = set()
    for step in order:
        each = program.instructions[step]
        is_element = not each.defined_bytes and not marked.isdisjoint(each.operands)
        if step in backward or is_element:
            marked.add(step)
    later, needed = set(marked), set(marked)
    for step in order:
        if not later.isdisjoint(program.instructions[step].operands):
            later.add(step)
    for step in reversed(order):
        if step in needed:
            needed.update(program.instructions[step].operands)
    found = frozenset(step for step in order if step in needed or step not in later) - marked
    return found | {program.computations[program.entry].root}


class Passes:
    """The readers of each value in the forward and in the backward pass of a program.

    Op names mark the backward pass. What depends on it belongs to it, such as sums of gradients and
    the update, and so does what it alone needs and the order computes once it has begun.
    """

    def __init__(self, compilation: PlannableCompilation, program: PlannedProgram) -> None:
        self._readers, self._by_id = compilation.readers, program.by_id
        self._recomputed = compilation.recomputed
        self._known = compilation.values
        self._found: dict[int, tuple[list[PlannedValue], list[PlannedValue]]] = {}
        self._marked = set(compilation.backward_ids & program.by_id.keys())
        self._marked -= self._computed_early(program)
        self._backward = self._depending(program)
        self._backward |= self._computed_late(program)

    def readers(self, value: PlannedValue) -> tuple[list[PlannedValue], list[PlannedValue]]:
        """Return what the backward pass computes from a value, then what the forward pass does."""
        if value.value_id not in self._found:
            backward: list[PlannedValue] = []
            forward: list[PlannedValue] = []
            for reader in self._read_by(value.value_id):
                (backward if reader.value_id in self._backward else forward).append(reader)
            self._found[value.value_id] = backward, forward
        return self._found[value.value_id]

    def _read_by(self, value_id: int) -> list[PlannedValue]:
        found = [
            self._by_id[each] for each in self._readers.get(value_id, ()) if each in self._by_id
        ]
        return [reader for reader in found if not reader.is_table]

    def _computed_early(self, program: PlannedProgram) -> set[int]:
        """Return marked values that the forward pass computes, such as masks of what it pools.

        They need nothing of the backward pass, and the forward pass has not yet computed all that
        the backward pass needs of what follows from the same values. What is made of inputs, of
        integers and constants alone, or for the backward pass alone, such as chosen indices, shows
        no pass.
        """
        needed_at = self._needed_of_what_follows(program)
        early: set[int] = set()
        of_inputs: set[int] = set()
        of_integers = self._made_of_integers(program)
        for value in sorted(program.values, key=begin_of):
            number, is_marked = value.value_id, value.value_id in self._marked
            if number in of_integers and value.reads:
                early.add(number)
                continue
            if not is_marked and not self._is_read_backward_only(value):
                continue
            read = [
                each
                for each in map(self._by_id.get, value.reads)
                if each is not None and not each.is_stored and each.value_id not in of_inputs
                if is_marked or each.reads
            ]
            needed = min((needed_at.get(each.value_id, 0) for each in read), default=None)
            if not is_marked:
                needed_at[number] = max(needed_at.get(number, 0), needed or 0)
            elif needed is None:
                of_inputs.add(number)
                if value.reads:
                    early.add(number)
            elif needed > value.live_from:
                early.add(number)
                needed_at[number] = needed
        return early

    def _made_of_integers(self, program: PlannedProgram) -> set[int]:
        """Return what depends on integers and constants alone, such as the weights of tokens.

        Nothing if the whole backward pass does: such a program computes with integers only.
        """
        found: set[int] = set()
        for value in sorted(program.values, key=begin_of):
            known = self._known.get(value.value_id)
            is_constant = known is not None and not known.dimensions and known.opcode != "parameter"
            is_given = known is not None and (known.is_integer or is_constant)
            if found.issuperset(value.reads) if value.reads else is_given:
                found.add(value.value_id)
        return set() if found.issuperset(self._marked) else found

    def _is_read_backward_only(self, value: PlannedValue) -> bool:
        """Return True for what the forward pass makes for the other one, such as chosen indices."""
        return all(each.value_id in self._marked for each in self._read_by(value.value_id))

    def _needed_of_what_follows(self, program: PlannedProgram) -> dict[int, int]:
        """Return the last step at which a value makes, forward, what the backward pass reads."""
        last: dict[int, int] = {}
        for value in sorted(program.values, key=begin_of, reverse=True):
            if value.value_id in self._marked:
                continue
            readers = self._read_by(value.value_id)
            forward = [each for each in readers if each.value_id not in self._marked]
            steps = [last[each.value_id] for each in forward if each.value_id in last]
            if len(forward) < len(readers):
                steps.append(self._computed_at(value))
            if steps:
                last[value.value_id] = max(steps)
        return last

    def _computed_at(self, value: PlannedValue) -> int:
        """Return the step that makes a value, or the value that it only moves."""
        known = self._known.get(value.value_id)
        if known is None or known.opcode not in MOVED_ELEMENTS or not value.operands:
            return value.live_from
        moved = self._by_id.get(value.operands[0])
        return value.live_from if moved is None else self._computed_at(moved)

    def _depending(self, program: PlannedProgram) -> set[int]:
        """Return the marked values, and all that depends on those that read forward values.

        Marked values that read none, such as zeros, may be merged with those of the forward pass.
        """
        read_forward: set[int] = set()
        for value in program.values:
            if not (value.is_stored or value.is_table or value.value_id in self._marked):
                read_forward.update(self._readers.get(value.value_id, ()))
        self._first = self._marked & read_forward
        return {*reached(self._first, self._readers.get), *self._marked}

    def _computed_late(self, program: PlannedProgram) -> set[int]:
        """Return what only the backward pass needs, and the order computes after it has begun.

        What fetches a value has results that nothing reads, such as flags. Numbers do not show
        where the backward pass begins.
        """
        first = [self._by_id[each] for each in self._first]
        arrays = [each for each in first if each.size_bytes > _SCALAR_BYTES] or first
        if not arrays:
            return set()
        begin = min(map(begin_of, arrays))
        begins: dict[str, int] = {}  # a loop over parts of a batch has both passes in its body
        for each in sorted(arrays, key=begin_of):
            begins.setdefault(each.computation, each.live_from)
        late: set[int] = set()
        for value in sorted(program.values, key=begin_of, reverse=True):
            if value.live_from < begins.get(value.computation, begin):
                continue
            if value.is_stored or value.is_table or value.lives_out:
                continue
            if value.value_id in self._recomputed:
                continue
            readers = (each.value_id for each in self._read_by(value.value_id))
            if all(each in self._backward or each in late for each in readers):
                late.add(value.value_id)
        return late
