"""Replay the temporary blocks and the schedules of a graph, and compare them with XLA's."""

from collections.abc import Sequence
from dataclasses import dataclass

from xlagraph.graph.engine import Graph
from xlagraph.planner.compilation.plannable_compilation import plannable_compilation
from xlagraph.planner.compilation.schedulable_compilation import schedulable_program
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.orders.ordered_program import reordering
from xlagraph.planner.orders.rules import Rule, may_make
from xlagraph.planner.planned_program import PRESET_SPACES
from xlagraph.planner.replay import replay
from xlagraph.queries.runner.compilations import select_all


@dataclass(frozen=True, slots=True)
class ReplayedBlock:
    """A temporary block of XLA's plan, packed again."""

    compilation: str
    memory_space: int
    memory_space_name: str | None
    """HBM, VMEM, host, …; None if unknown."""
    allocation: int
    temp_bytes: int
    temp_bytes_replayed: int
    offsets_equal: bool
    values_of_other_spaces: int = 0
    """Values in it that belong to another memory space, which XLA packs by rules of its own."""

    @property
    def is_exact(self) -> bool:
        """True if the size and every offset equal XLA's."""
        return self.offsets_equal and self.temp_bytes == self.temp_bytes_replayed

    @property
    def is_packed_by_another_method(self) -> bool:
        """True if XLA places values there by other rules (TPU VMEM)."""
        return self.memory_space in PRESET_SPACES


def replay_blocks(graph: Graph, names: Sequence[str] = ()) -> tuple[ReplayedBlock, ...]:
    """Replay the temporary blocks of the named runs and compilations, or of all.

    Compilations without live ranges are skipped. Raises EmptyGraph.
    """
    read = (
        plannable_compilation(StoredCompilation(graph, key)) for key in select_all(graph, names)
    )
    return tuple(
        ReplayedBlock(
            each.key,
            block.allocation.memory_space,
            each.space_names.get(block.allocation.memory_space),
            block.allocation.number,
            block.allocation.size_bytes,
            block.size_bytes,
            block.offsets_equal,
            len(each.program.in_blocks_of_other_spaces.get(block.allocation.number, ())),
        )
        for each in read
        if each.has_ranges
        for block in replay(each.program)
    )


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
