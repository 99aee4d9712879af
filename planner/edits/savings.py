"""Replan the memory of a compilation to find the bytes that changes save."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Final, assert_never

from xlagraph.planner.compilation.plannable_compilation import (
    PlannableCompilation,
    plannable_compilation,
)
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.donation import donate
from xlagraph.planner.edits.checkpoint import Checkpoint, defer, move, recompute
from xlagraph.planner.edits.donors import pair_donations
from xlagraph.planner.edits.loop_stacks import loop_stacks
from xlagraph.planner.memory_plan import MemoryPlan, replan
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.planner.replay import Replay, replay
from xlagraph.planner.value_changes import with_shrunk_values, without_values
from xlagraph.queries.catalogue.declarations import ChangeKind

__all__ = ["Change", "Planner", "Savings"]

_NO_MODULE_TEXT: Final = "without module text nothing is replanned: this is a sum of sizes"
_NOT_EXACT: Final = "replanning does not reproduce XLA's plan: this is a sum of sizes"
_TOLERANCE: Final = 0.01
"""Part of the reserved bytes by which replanning may differ, for example because the parts of a
TPU's block are combined in another order. No finding is as small."""


@dataclass(frozen=True, slots=True)
class Savings:
    """Reserved bytes that a change saves."""

    bytes: int
    """Bytes saved; the least of a range."""
    at_most: int | None = None
    """Most of the range; None if the savings are not a range."""
    is_certain: bool = True
    """True if the compiler will follow the plan; False if it may reschedule."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change to some values, by label."""

    kind: ChangeKind
    labels: tuple[str, ...] = ()
    factors: Mapping[str, Fraction] = field(default_factory=dict)
    """Part of its bytes that a value keeps, by label, if the change shrinks it."""


class Planner:
    """A planner that replans one compilation in one memory space."""

    def __init__(self, compilation: StoredCompilation, color: int) -> None:
        self.compilation = compilation
        self.memory_space = color

    @property
    def is_cpu(self) -> bool:
        """True if the compilation is for a CPU."""
        return self.stored.platform == "cpu"

    @property
    def obstacle(self) -> str | None:
        """Why the compilation cannot be replanned; None if it can."""
        if not self.stored.has_buffer_sets or not self.stored.has_ranges:
            return _NO_MODULE_TEXT
        own = self.stored.reserved_bytes.get(self.memory_space, 0)
        before = self._plan.reserved_bytes(self.memory_space)
        return None if abs(before - own) <= _TOLERANCE * own else _NOT_EXACT

    @cached_property
    def stored(self) -> PlannableCompilation:
        """The compilation, read for planning."""
        return plannable_compilation(self.compilation)

    def savings(self, changes: Sequence[Change]) -> Savings:
        """Return the savings of all changes together; donations are applied last."""
        if any(change.kind is ChangeKind.PACK for change in changes):
            return self._savings_of_packing()
        program = self.stored.program
        least, most = program, program
        is_certain = True
        is_range = False
        has_stacks = False
        for change in changes:
            if change.kind is not ChangeKind.DONATE:
                found = self._changed(change, least)
                is_range = is_range or found.least is not found.most
                has_stacks = has_stacks or bool(found.stacked_ids)
                most = (found if least is most else self._changed(change, most)).most
                least = found.least
                is_certain = is_certain and self._is_certain(change, found)
        donated = {
            label for each in changes if each.kind is ChangeKind.DONATE for label in each.labels
        }
        saved = self._saved(self._donated(least, donated))
        if not is_range or (self.is_cpu and not has_stacks and _only_recomputes(changes)):
            # on CPU no savings are expected, so the other end of the range is not replanned
            return Savings(saved, is_certain=is_certain)
        other = self._saved(self._donated(most, donated))
        least_saved = max(0, min(saved, other))
        return Savings(least_saved, max(0, saved, other), is_certain)

    def _changed(self, change: Change, program: PlannedProgram) -> Checkpoint:
        """Return the least and the most of a program after a change that is not a donation."""
        value_ids = self._ids(change.labels)
        match change.kind:
            case ChangeKind.WITHOUT:
                return _exact(without_values(program, value_ids))
            case ChangeKind.RECOMPUTE:
                return recompute(self.stored, program, self._with_whole_loops(value_ids))
            case ChangeKind.LATE:
                return defer(self.stored, program, value_ids)
            case ChangeKind.MOVE:
                return move(self.stored, program, value_ids)
            case ChangeKind.HALF | ChangeKind.DENSE | ChangeKind.SHARD:
                return _exact(with_shrunk_values(program, self._factors(change)))
            case ChangeKind.PARTS:
                factors = self._with_whole_sets(program, self._factors(change))
                return Checkpoint(
                    without_values(program, factors),
                    with_shrunk_values(program, factors),
                    len(factors),
                )
            case ChangeKind.DONATE | ChangeKind.PACK:
                return _exact(program)
            case _:
                assert_never(change.kind)

    def _with_whole_loops(self, value_ids: Collection[int]) -> set[int]:
        """Add all stacks of a loop if one of them is named."""
        program = self.stored.program
        found = set(value_ids)
        for loop in loop_stacks(self.stored, program, program.by_id):
            if not loop.value_ids.isdisjoint(found):
                found |= loop.value_ids
        return found

    def _is_certain(self, change: Change, found: Checkpoint) -> bool:
        if change.kind is ChangeKind.RECOMPUTE:
            return found.is_of_loops
        return change.kind not in (ChangeKind.LATE, ChangeKind.MOVE, ChangeKind.PARTS)

    def savings_of_stacks(self, change: Change) -> Savings | None:
        """Return the savings of recomputing only stacks of loops; None if nothing is stacked."""
        found = self._changed(change, self.stored.program)
        if not found.stacked_ids or found.is_of_loops:
            return None
        stacks = recompute(self.stored, self.stored.program, found.stacked_ids)
        saved = self._saved(stacks.least), self._saved(stacks.most)
        return Savings(min(saved), max(saved)) if max(saved) > 0 else None

    def _factors(self, change: Change) -> dict[int, Fraction]:
        by_label = self._id_by_label
        return {
            by_label[label]: factor for label, factor in change.factors.items() if label in by_label
        }

    def _with_whole_sets(
        self, program: PlannedProgram, factors: Mapping[int, Fraction]
    ) -> dict[int, Fraction]:
        """Return the factors for all members of the named buffer sets."""
        return {
            member.value_id: factor
            for value_id, factor in factors.items()
            if value_id in program.by_id
            for member in program.sets[program.by_id[value_id].buffer_set]
        }

    def _donated(self, program: PlannedProgram, labels: Collection[str]) -> PlannedProgram:
        if not labels:
            return program
        kept = program.by_id.keys()
        pairs, _ = pair_donations(self.stored, self._ids(labels) & kept)
        left = [pair for pair in pairs if pair.output in kept]
        return donate(program, left, knows_schedule=self.stored.drops_needless_copies).program

    def _savings_of_packing(self) -> Savings:
        """Return the savings of packing the heap to its lower bound."""
        heap = self._plan.heap(self.memory_space)
        return Savings(heap.size_bytes - heap.lower_bound_bytes if heap is not None else 0)

    def _saved(self, program: PlannedProgram) -> int:
        if program.values == self.stored.program.values:
            return 0
        before = self._plan.reserved_bytes(self.memory_space)
        return before - replan(program, self._replays).reserved_bytes(self.memory_space)

    @cached_property
    def _replays(self) -> tuple[Replay, ...]:
        return replay(self.stored.program)

    @cached_property
    def _plan(self) -> MemoryPlan:
        return replan(self.stored.program, self._replays)

    @cached_property
    def _id_by_label(self) -> dict[str, int]:
        return {facts.label: value_id for value_id, facts in self.stored.facts.items()}

    def _ids(self, labels: Iterable[str]) -> set[int]:
        return {self._id_by_label[label] for label in labels if label in self._id_by_label}


def _only_recomputes(changes: Sequence[Change]) -> bool:
    return all(change.kind is ChangeKind.RECOMPUTE for change in changes)


def _exact(program: PlannedProgram) -> Checkpoint:
    return Checkpoint(program, program, 0)
