"""Compute the savings of a finding: replanned if possible, else the sum of its rows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from xlagraph.advice import edited_values
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.edits.donating import Donate
from xlagraph.planner.edits.edit import Edit, Edited, Replanned, replan
from xlagraph.planner.edits.recomputed_parts import saved_in_parts
from xlagraph.planner.edits.recomputing import Recompute
from xlagraph.planner.edits.reordering_edit import Reorder
from xlagraph.planner.edits.resizing import ids_of
from xlagraph.planner.edits.separate_copies import SeparateCopies
from xlagraph.planner.planned_program import PRESET_SPACES
from xlagraph.presentation.byte_sizes import human_bytes, range_text
from xlagraph.queries.catalogue.declarations import ChangeKind

_SUM_OF_SIZES: Final = "a sum of sizes: the effect of this change cannot be replanned"
_MAY_GATHER: Final = "unless values computed with it are sharded too, the compiler gathers it again"
_NO_PACKING: Final = "an upper bound: no packing saves more, and a change may save less"
_PADS_OTHERS: Final = "an upper bound: the compiler may pad the changed shape, too"
_OTHER_PROGRAM: Final = "the compiler may schedule and fuse the changed program differently"
_NUMERICS: Final = "only if the numerics allow half the width, which a dump does not show"
_DOUBTS: Final = {
    ChangeKind.HALF: _NUMERICS,
    ChangeKind.WITHOUT: _OTHER_PROGRAM,
    ChangeKind.PARTS: _OTHER_PROGRAM,
    ChangeKind.MOVE: _OTHER_PROGRAM,
    ChangeKind.SHARD: _MAY_GATHER,
    ChangeKind.PACK: _NO_PACKING,
    ChangeKind.DENSE: _PADS_OTHERS,
}
"""Doubts by kind of change, on any platform."""
_RECOMPUTES_EARLY: Final = (
    "in this order of instructions values may be recomputed long before they are read; compile with"
    " the memory-optimized schedule"
)
_CPU_WIDENS: Final = "on CPU the compiler computes in wider types and keeps the casts"
_CPU_REORDERS: Final = "on CPU the compiler drops barriers and chooses the order itself"
_CPU_DROPS_BARRIERS: Final = (
    "on CPU the compiler drops barriers: this is planned for checkpoints around parts that hand on"
    " few bytes, such as attention alone; whole layers may be recomputed all at once"
)
_KEEPS_INPUTS: Final = (
    "a checkpoint keeps its inputs: around each of these values alone it saves nothing, around"
    " several of them up to this"
)
_MAY_FIT_VMEM: Final = "what is left may fit into VMEM too, which would save more"
_NO_BLOCKS: Final = (
    "a checkpoint keeps its inputs, and no scope (jax.named_scope) shows which of these values one"
    " block computes"
)
_CPU_EXPECTS_NOTHING: Final = {
    ChangeKind.RECOMPUTE: _RECOMPUTES_EARLY,
    ChangeKind.LATE: _RECOMPUTES_EARLY,
    ChangeKind.HALF: _CPU_WIDENS,
}
_OF_LARGEST: Final = 0.8
"""Part of the largest saving of a checkpoint to expect. Most programs saved 0.7 to 1.1 of it."""
_OF_ORDERED: Final = 0.95
"""The same where the order of what a checkpoint recomputes is planned. GPUs saved 0.8 to 1.0."""
_LIKELIHOODS: Final = {
    ChangeKind.RECOMPUTE: 0.9,
    ChangeKind.LATE: 0.5,
    ChangeKind.HALF: 0.6,
    ChangeKind.WITHOUT: 0.8,
    ChangeKind.PARTS: 0.7,
    ChangeKind.MOVE: 0.4,
    ChangeKind.SHARD: 0.5,
    ChangeKind.PACK: 0.2,
    ChangeKind.DENSE: 0.5,
}
"""Part of a doubtful figure to expect, by kind of change. Checkpoints on GPU: 6 of 6 confirmed."""
_LIKELIHOOD_OF_SUMS: Final = 0.4
"""Part to expect of a sum of sizes."""


@dataclass(frozen=True, slots=True)
class Savings:
    """Reserved bytes that edits save together."""

    bytes: int
    """Bytes saved; the least of a range."""
    at_most: int | None = None
    """Most of the range; None if the savings are not a range."""
    is_certain: bool = True
    """True if the compiler will follow the plan; False if it may reschedule."""


@dataclass(frozen=True, slots=True)
class PotentialSavings:
    """Savings of the change that a finding proposes."""

    bytes: int
    """Bytes saved; the least of a range."""
    at_most: int | None
    """Most of the range; None if the savings are not a range."""
    measure: str
    """Total to compare with: `reserved` if replanned, else the measure of the advice."""
    doubt: str | None
    """Why the effect is uncertain; None if it is certain."""
    is_planned: bool
    """True if the memory was replanned; False for a sum of sizes."""
    likelihood: float = 1.0
    """Part of the range's middle to expect; 0 if nothing is expected here."""
    in_memory_order: Savings | None = None
    """Further savings once the memory-optimized order is used, if other orders prevent them."""

    @property
    def least_bytes(self) -> int:
        """The range's beginning; 0 if the text says `up to`."""
        return 0 if self.at_most is None and self.doubt is not None else self.bytes

    @property
    def middle(self) -> int:
        """The range's middle."""
        return (self.bytes + (self.bytes if self.at_most is None else self.at_most)) // 2

    @property
    def most_bytes(self) -> int:
        """The range's end; that of the memory-optimized order, if only that saves anything."""
        found = self if self.in_memory_order is None else self.in_memory_order
        return max(found.bytes, found.at_most or 0)

    @property
    def expected_bytes(self) -> int:
        """The range's middle, discounted by the doubt."""
        return int(self.middle * self.likelihood)

    @property
    def text(self) -> str:
        """Savings as text: `1.0 MiB`, `1.0 MiB to 4.0 MiB`, or `up to 1.0 MiB` if uncertain."""
        if self.in_memory_order is not None:
            found = self.in_memory_order
            saved = range_text(found.bytes, found.at_most, is_certain=False)
            return f"unknown in this order; {saved} more with the memory-optimized one"
        if self.doubt == _RECOMPUTES_EARLY:
            return "unknown in this order of instructions"
        if not self.likelihood:
            return f"nothing is expected here; it may be up to {human_bytes(self.middle)}"
        return range_text(self.bytes, self.at_most, is_certain=self.doubt is None)


def savings_of_edit(
    kind: ChangeKind | None,
    edit: Edit | None,
    sum_of_sizes: int,
    measure: str,
    program: PeakProgram,
) -> PotentialSavings:
    """Return the replanned savings of an edit, or the sum of sizes if it cannot be replanned."""
    if kind is None or edit is None:
        return _sum_of_sizes(sum_of_sizes, measure, _SUM_OF_SIZES)
    if (obstacle := program.obstacle) is not None:
        total = _sum_of_sizes(sum_of_sizes, measure, obstacle)
        is_in_vain = kind is ChangeKind.HALF and program.compilation.platform == "cpu"
        return replace(total, likelihood=0.0) if is_in_vain else total
    if (
        isinstance(edit, Recompute)
        and program.recomputes_early
        and not edit.is_shown_by_stacks(program.compilation)
        and (later := _in_memory_order(edit, program)) is not None
    ):
        return _only_later(later)  # it does not matter what an ideal order would save here
    after = replan(program.compilation, _in_order([edit]))
    found = _savings(program, after)
    if isinstance(edit, Recompute) and not found.is_certain and after.edited is not None:
        stacks = _savings_of_stacks(program, edit, after.edited)
        if not program.compilation.orders_recomputation:
            found = _without_barriers(program, edit, found, stacks)
        elif stacks is not None:
            found = replace(found, bytes=min(stacks.bytes, found.bytes), is_certain=True)
        if program.compilation.is_gpu and program.live_orders is not None:
            # the compiler may compute gradients of parameters earlier next to a checkpoint
            most = max(found.bytes, found.at_most or 0, _saved_in_parts(program, edit))
            found = replace(found, at_most=most)
    doubt, likelihood = _doubt(kind, found, program)
    if (
        doubt == _KEEPS_INPUTS
        and program.compilation.is_tpu
        and isinstance(edit, Recompute)
        and not edited_values.are_in_scopes(program.compilation, edit.labels)
    ):
        doubt, likelihood = _NO_BLOCKS, 0.0
    return PotentialSavings(
        found.bytes,
        found.at_most,
        "reserved",
        doubt,
        is_planned=True,
        likelihood=likelihood,
        in_memory_order=_in_memory_order(edit, program) if doubt == _RECOMPUTES_EARLY else None,
    )


def replanned_savings(program: PeakProgram, edits: Iterable[Edit]) -> Savings:
    """Return the savings of all edits together."""
    return _savings(program, replan(program.compilation, _in_order(edits)))


def _savings(program: PeakProgram, after: Replanned) -> Savings:
    saved = after.saved_bytes(program.memory_space)
    made = [step.edited for step in after.steps if step.edited is not None]
    is_certain = all(each.is_certain for each in made)
    only_recomputes = all(isinstance(step.edit, Recompute) for step in after.steps)
    has_stacks = any(each.stacked_ids for each in made)
    is_hopeless = only_recomputes and not has_stacks and program.recomputes_early
    if after.most is None or is_hopeless:  # the other end of the range is not replanned
        return Savings(saved, is_certain=is_certain)
    before = program.compilation.plan.reserved_bytes(program.memory_space)
    other = before - after.most_reserved_bytes(program.memory_space)
    return Savings(max(0, min(saved, other)), max(0, saved, other), is_certain)


def _in_order(edits: Iterable[Edit]) -> Iterator[Edit]:
    """Yield another order of instructions first, and all donations as one edit last.

    The other edits see the steps of that order; frameworks pair all donations at once.
    """
    donated = Donate((), frozenset())
    for edit in sorted(edits, key=lambda edit: not isinstance(edit, Reorder | SeparateCopies)):
        if isinstance(edit, Donate):
            donated |= edit
        else:
            yield edit
    if donated.parameters:
        yield donated


def _without_barriers(
    program: PeakProgram, edit: Recompute, found: Savings, stacks: Savings | None
) -> Savings:
    """Return the savings of a checkpoint if the compiler drops its barriers.

    The stacks of loops are saved in any order; the rest follows from that of the recomputed
    instructions.
    """
    if program.recomputes_early:
        return stacks or Savings(0, max(found.bytes, found.at_most or 0), is_certain=False)
    saved = _saved_in_parts(program, edit)
    if stacks is None:
        return Savings(saved, is_certain=False)
    return Savings(stacks.bytes, max(saved, stacks.at_most or stacks.bytes))


def _only_later(found: Savings) -> PotentialSavings:
    """Return savings of which this order shows nothing, and the memory-optimized one these."""
    most = max(found.bytes, found.at_most or 0)
    return PotentialSavings(
        0, most, "reserved", _RECOMPUTES_EARLY, True, likelihood=0.0, in_memory_order=found
    )


def _saved_in_parts(program: PeakProgram, edit: Recompute, alone: int = 0) -> int:
    """Return what recomputing saves beyond this much, at most the bytes of the edit's values."""
    stored, space = program.stored, program.memory_space
    saved = (saved_in_parts(stored, space, again=edit.again) or 0) - alone
    named = ids_of(program.compilation, edit.labels)
    return max(0, min(saved, program.program.bytes_of(named)))


def _in_memory_order(edit: Edit, program: PeakProgram) -> Savings | None:
    """Return what an edit saves beyond the memory-optimized order alone.

    None if another order cannot be planned.
    """
    order = program.memory_order
    if order is None:
        return None
    alone = max(0, replanned_savings(program, [order]).bytes)
    if isinstance(edit, Recompute):
        return Savings(_saved_in_parts(program, edit, alone))
    found = replanned_savings(program, [order, edit])
    most = found.bytes if found.at_most is None else found.at_most
    return Savings(max(0, found.bytes - alone), max(0, most - alone))


def sure_edit(program: PeakProgram, edit: Edit) -> Edit:
    """Return the part of an edit that compilers do not undo: the stacks of loops to recompute.

    It is the edit itself if it recomputes nothing else, or no stacks.
    """
    compilation = program.compilation
    return _sure_part(compilation, edit, edit.apply(compilation, compilation.program))


def _sure_part(compilation: PlannableCompilation, edit: Edit, found: Edited) -> Edit:
    if not isinstance(edit, Recompute) or not found.stacked_ids or found.is_of_loops:
        return edit
    stacks = tuple(compilation.values[each].label for each in sorted(found.stacked_ids))
    return replace(edit, labels=stacks)


def _savings_of_stacks(program: PeakProgram, edit: Edit, found: Edited) -> Savings | None:
    """Return the savings of recomputing only stacks of loops; None if nothing is stacked."""
    compilation, space = program.compilation, program.memory_space
    stacks = _sure_part(compilation, edit, found)
    if stacks is edit:
        return None
    after = replan(compilation, [stacks])
    saved = after.saved_bytes(space)
    other = compilation.plan.reserved_bytes(space) - after.most_reserved_bytes(space)
    return Savings(max(0, min(saved, other)), max(saved, other)) if max(saved, other) > 0 else None


def _sum_of_sizes(total: int, measure: str, doubt: str) -> PotentialSavings:
    return PotentialSavings(
        total, None, measure, doubt, is_planned=False, likelihood=_LIKELIHOOD_OF_SUMS
    )


def _may_fit_vmem(found: Savings, program: PeakProgram) -> bool:
    """Return True if a TPU keeps more in VMEM than the temporary values that stay in HBM."""
    compilation = program.compilation
    if not compilation.is_tpu:
        return False
    in_vmem = sum(compilation.reserved_bytes.get(space, 0) for space in PRESET_SPACES)
    temporary = sum(
        each.size_bytes
        for each in program.program.allocations
        if each.role == "temp" and each.memory_space == program.memory_space
    )
    return temporary - max(found.bytes, found.at_most or 0) <= in_vmem


def _doubt(change: ChangeKind, found: Savings, program: PeakProgram) -> tuple[str | None, float]:
    """Return why the effect is uncertain, and the part of it to expect."""
    is_cpu = program.compilation.platform == "cpu"
    if change is ChangeKind.RECOMPUTE and found.is_certain:
        return (_MAY_FIT_VMEM if _may_fit_vmem(found, program) else None), 1.0
    is_in_vain = is_cpu and change in _CPU_EXPECTS_NOTHING
    if is_in_vain and (change is ChangeKind.HALF or program.recomputes_early):
        return _CPU_EXPECTS_NOTHING[change], 0.0
    if change is ChangeKind.RECOMPUTE and not program.compilation.orders_recomputation:
        return _CPU_DROPS_BARRIERS, _LIKELIHOODS[change]
    if change is ChangeKind.RECOMPUTE:
        most = max(found.bytes, found.at_most or 0)
        middle = (found.bytes + most) / 2
        text = _OTHER_PROGRAM if found.bytes else _KEEPS_INPUTS
        is_ordered = program.compilation.is_gpu and program.live_orders is not None
        return text, (_OF_ORDERED if is_ordered else _OF_LARGEST) * most / (middle or 1)
    if change is ChangeKind.MOVE and not program.compilation.keeps_barriers:
        return _CPU_REORDERS, _LIKELIHOODS[change] / 2
    doubt = _DOUBTS.get(change) if found.is_certain else _OTHER_PROGRAM
    return doubt, _LIKELIHOODS.get(change, 1.0)
