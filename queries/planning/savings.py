"""What a change to some values of a compilation saves, as its memory planned anew says."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Final

from xlagraph.graph.engine import Graph
from xlagraph.plan.donation import donate
from xlagraph.plan.memory_plan import MemoryPlan, plan_anew
from xlagraph.plan.program import Program
from xlagraph.plan.replay import Replay, replay
from xlagraph.plan.value_changes import shrunk, without
from xlagraph.queries.planning.checkpoint import Checkpoint, defer, recompute
from xlagraph.queries.planning.compiled import Compiled, read_compiled
from xlagraph.queries.planning.donors import donors
from xlagraph.queries.planning.loop_stacks import loop_stacks

__all__ = ["Planner", "Savings"]

_NO_MODULE_TEXT: Final = "no module text was ingested: a sum of sizes, not a plan"
_NOT_EXACT: Final = "the plan as it is does not come out the same when made anew"


@dataclass(frozen=True, slots=True)
class Savings:
    """Bytes that a change saves of what is reserved."""

    bytes: int
    """At least, where it is a range."""
    at_most: int | None = None
    """None where it is not a range."""
    is_certain: bool = True
    """Whether the compiler makes of the change what was planned: not where it schedules anew."""


class Planner:
    """Plans one compilation anew, in one memory space, as often as it is asked."""

    def __init__(self, graph: Graph, compilation: str, color: int) -> None:
        self._graph = graph
        self._key = compilation
        self.memory_space = color

    @property
    def is_cpu(self) -> bool:
        """Whether it was compiled for a CPU."""
        return self._compiled.platform == "cpu"

    @property
    def obstacle(self) -> str | None:
        """Why nothing can be planned anew; None if it can."""
        if not self._compiled.has_sets or not self._compiled.has_ranges:
            return _NO_MODULE_TEXT
        own = self._compiled.reserved_bytes.get(self.memory_space, 0)
        before = self._plan.reserved_bytes(self.memory_space)
        return None if abs(before - own) <= own // 100 else _NOT_EXACT

    def donated(self, labels: Collection[str]) -> Savings:
        """Donate these parameters."""
        pairs, _ = donors(self._compiled, self._ids(labels))
        found = donate(self._compiled.program, pairs, knows_schedule=self._compiled.knows_schedule)
        return Savings(self._saved(found.program))

    def without(self, labels: Collection[str]) -> Savings:
        """Remove these values."""
        return Savings(self._saved(without(self._compiled.program, self._ids(labels))))

    def shrunk(self, factors: Iterable[tuple[str, Fraction]]) -> Savings:
        """Shrink these values to a part of their bytes."""
        by_label = self._id_by_label
        factor_by_id = {by_label[label]: factor for label, factor in factors if label in by_label}
        return Savings(self._saved(shrunk(self._compiled.program, factor_by_id)))

    def recomputed(self, labels: Collection[str]) -> Savings:
        """Compute these values again where they are read backward: of a loop all that it stacks."""
        program = self._compiled.program
        value_ids = self._ids(labels)
        for loop in loop_stacks(self._compiled, program, program.by_id):
            if not loop.value_ids.isdisjoint(value_ids):
                value_ids |= loop.value_ids
        found = recompute(self._compiled, program, value_ids)
        savings = self._between(found)
        if found.is_of_loops:
            return savings
        stacks = self._between(recompute(self._compiled, program, found.stacked))
        if max(stacks.bytes, stacks.at_most or 0) > 0:
            return replace(savings, bytes=min(stacks.bytes, savings.bytes))
        return replace(savings, is_certain=False)

    def deferred(self, labels: Collection[str]) -> Savings:
        """Compute these values again no earlier than they are read backward."""
        found = defer(self._compiled, self._compiled.program, self._ids(labels))
        return replace(self._between(found), is_certain=False)

    def packed(self) -> Savings:
        """Pack the heap as well as any packing could: what no change saves more of."""
        heap = self._plan.heap(self.memory_space)
        return Savings(heap.size_bytes - heap.lower_bound_bytes if heap is not None else 0)

    def _between(self, found: Checkpoint) -> Savings:
        saved = self._saved(found.least), self._saved(found.most)
        return Savings(min(saved), max(saved))

    def _saved(self, program: Program) -> int:
        before = self._plan.reserved_bytes(self.memory_space)
        return before - plan_anew(program, self._replays).reserved_bytes(self.memory_space)

    @cached_property
    def _compiled(self) -> Compiled:
        return read_compiled(self._graph, self._key)

    @cached_property
    def _replays(self) -> tuple[Replay, ...]:
        return replay(self._compiled.program)

    @cached_property
    def _plan(self) -> MemoryPlan:
        return plan_anew(self._compiled.program, self._replays)

    @cached_property
    def _id_by_label(self) -> dict[str, int]:
        return {facts.label: value_id for value_id, facts in self._compiled.facts.items()}

    def _ids(self, labels: Collection[str]) -> set[int]:
        return {self._id_by_label[label] for label in labels if label in self._id_by_label}
