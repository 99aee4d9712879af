"""Replay the schedules of a graph, and find the schedulers of XLA that make them."""

from collections.abc import Sequence
from dataclasses import dataclass

from xlagraph.graph.engine import Graph
from xlagraph.planner.compilation.plannable_compilation import plannable_compilation
from xlagraph.planner.compilation.schedulable_compilation import schedulable_program
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.orders.ordered_program import reordering
from xlagraph.planner.orders.rules import Rule, may_make
from xlagraph.queries.runner.compilations import select_all

__all__ = ["ReplayedSchedule", "replay_schedules"]


@dataclass(frozen=True, slots=True)
class ReplayedSchedule:
    """A stored schedule, compared with those that XLA's schedulers make."""

    compilation: str
    instructions: int
    computations: int
    schedulers: tuple[str, ...]
    """Schedulers that make this schedule; empty if none does."""
    closest: str
    """The scheduler that makes most of its computations."""
    computations_equal: int
    """Number of computations in the order of that scheduler."""
    ranges_equal: bool
    """True if the live ranges that follow from the schedule are those of the dump."""


def replay_schedules(graph: Graph, names: Sequence[str] = ()) -> tuple[ReplayedSchedule, ...]:
    """Replay the schedules of the named runs and compilations, or of all.

    Compilations without a schedule or a complete module text are skipped. Raises EmptyGraph.
    """
    replayed = (_replayed(StoredCompilation(graph, key)) for key in select_all(graph, names))
    return tuple(each for each in replayed if each is not None)


def _replayed(stored: StoredCompilation) -> ReplayedSchedule | None:
    plannable = plannable_compilation(stored)
    if not (plannable.has_ranges and plannable.has_buffer_sets):
        return None
    program = schedulable_program(stored)
    if program is None:
        return None
    equal = {
        rule: sum(may_make(rule, program, name) for name in program.computations) for rule in Rule
    }
    closest = max(Rule, key=lambda rule: equal[rule])
    count = len(program.computations)
    return ReplayedSchedule(
        stored.key,
        len(program.instructions),
        count,
        tuple([rule.value for rule in Rule if equal[rule] == count]),
        closest.value,
        equal[closest],
        reordering(plannable.program, program).is_exact,
    )
