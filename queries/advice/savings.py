"""What a change to some values of a compilation saves, as its memory planned anew says."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Final

from xlagraph.queries.advice.checkpoint import Checkpoint, defer, recompute
from xlagraph.queries.advice.donors import pair_donations
from xlagraph.queries.advice.loop_stacks import loop_stacks
from xlagraph.queries.advice.plannable_compilation import (
    PlannableCompilation,
    plannable_compilation,
)
from xlagraph.queries.stored_compilation.stored_compilation import StoredCompilation
from xlagraph.xla_planner.donation import donate
from xlagraph.xla_planner.memory_plan import MemoryPlan, plan_anew
from xlagraph.xla_planner.planned_program import PlannedProgram
from xlagraph.xla_planner.replay import Replay, replay
from xlagraph.xla_planner.value_changes import with_shrunk_values, without_values

__all__ = ["Planner", "Savings"]

_NO_MODULE_TEXT: Final = "no module text was ingested: a sum of sizes, not a plan"
_NOT_EXACT: Final = "the plan as it is does not come out the same when made anew"
_TOLERANCE: Final = 0.01
"""Part of what is reserved by which the plan made anew may differ, as where the parts of a TPU's
block are combined in another order; no finding is as small."""


@dataclass(frozen=True, slots=True)
class Savings:
    """Bytes that a change saves of what is reserved."""

    bytes: int
    """At least, where it is a range."""
    at_most: int | None = None
    """None where it is not a range."""
    is_certain: bool = True
    """Whether the compiler will follow the plan; False where it may reschedule."""


class Planner:
    """Plans one compilation anew, in one memory space, as often as it is asked."""

    def __init__(self, compilation: StoredCompilation, color: int) -> None:
        self._compilation = compilation
        self.memory_space = color

    @property
    def is_cpu(self) -> bool:
        """Whether it was compiled for a CPU."""
        return self._stored.platform == "cpu"

    @property
    def obstacle(self) -> str | None:
        """Why nothing can be planned anew; None if it can."""
        if not self._stored.has_buffer_sets or not self._stored.has_ranges:
            return _NO_MODULE_TEXT
        own = self._stored.reserved_bytes.get(self.memory_space, 0)
        before = self._plan.reserved_bytes(self.memory_space)
        return None if abs(before - own) <= _TOLERANCE * own else _NOT_EXACT

    def savings_of_donating(self, labels: Collection[str]) -> Savings:
        """Return what donating these parameters saves."""
        pairs, _ = pair_donations(self._stored, self._ids(labels))
        found = donate(
            self._stored.program,
            pairs,
            knows_schedule=self._stored.drops_needless_copies,
        )
        return Savings(self._saved(found.program))

    def savings_of_removing(self, labels: Collection[str]) -> Savings:
        """Return what removing these values saves."""
        return Savings(self._saved(without_values(self._stored.program, self._ids(labels))))

    def savings_of_shrinking(self, factors: Iterable[tuple[str, Fraction]]) -> Savings:
        """Return what shrinking these values to a part of their bytes saves."""
        by_label = self._id_by_label
        factor_by_id = {by_label[label]: factor for label, factor in factors if label in by_label}
        return Savings(self._saved(with_shrunk_values(self._stored.program, factor_by_id)))

    def savings_of_recomputing(self, labels: Collection[str]) -> Savings:
        """Return what computing these values again saves: of a loop all that it stacks."""
        program = self._stored.program
        value_ids = self._ids(labels)
        for loop in loop_stacks(self._stored, program, program.by_id):
            if not loop.value_ids.isdisjoint(value_ids):
                value_ids |= loop.value_ids
        found = recompute(self._stored, program, value_ids)
        savings = self._between(found)
        if found.is_of_loops:
            return savings
        if found.stacked_ids:
            stacks = self._between(recompute(self._stored, program, found.stacked_ids))
            if max(stacks.bytes, stacks.at_most or 0) > 0:
                return replace(savings, bytes=min(stacks.bytes, savings.bytes))
        return replace(savings, is_certain=False)

    def savings_of_deferring(self, labels: Collection[str]) -> Savings:
        """Return what computing these values again no earlier than they are read saves."""
        found = defer(self._stored, self._stored.program, self._ids(labels))
        return replace(self._between(found), is_certain=False)

    def savings_of_packing(self) -> Savings:
        """Return what packing the heap to its lower bound saves."""
        heap = self._plan.heap(self.memory_space)
        return Savings(heap.size_bytes - heap.lower_bound_bytes if heap is not None else 0)

    def _between(self, found: Checkpoint) -> Savings:
        saved = self._saved(found.least), self._saved(found.most)
        return Savings(min(saved), max(saved))

    def _saved(self, program: PlannedProgram) -> int:
        if program.values == self._stored.program.values:
            return 0
        before = self._plan.reserved_bytes(self.memory_space)
        return before - plan_anew(program, self._replays).reserved_bytes(self.memory_space)

    @cached_property
    def _stored(self) -> PlannableCompilation:
        return plannable_compilation(self._compilation)

    @cached_property
    def _replays(self) -> tuple[Replay, ...]:
        return replay(self._stored.program)

    @cached_property
    def _plan(self) -> MemoryPlan:
        return plan_anew(self._stored.program, self._replays)

    @cached_property
    def _id_by_label(self) -> dict[str, int]:
        return {facts.label: value_id for value_id, facts in self._stored.facts.items()}

    def _ids(self, labels: Collection[str]) -> set[int]:
        return {self._id_by_label[label] for label in labels if label in self._id_by_label}
