"""A stored compilation with derived facts for exports: memory space names, order, live ranges."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from xlagraph.graph.engine import Graph
from xlagraph.planner.compilation.records import (
    StoredInstruction,
    StoredValue,
)
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.planned_program import PlannedAllocation


class StepRange(NamedTuple):
    """The first and last step of a live range, both included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class PlacedProgram:
    """A compilation that is prepared for an export."""

    module: str
    result: str | None
    """Name of the instruction whose value the entry computation returns."""
    space_names: Mapping[int, str]
    """Names by color: HBM, VMEM, …, else `memory space N`."""
    allocations: tuple[PlannedAllocation, ...]
    values: tuple[StoredValue, ...]
    """Values in the order of their ids."""
    instructions: tuple[StoredInstruction, ...]
    """Instructions in schedule order, then the others that make a value, by name."""


def read_program(graph: Graph, compilation: str) -> PlacedProgram:
    """Read a complete compilation by its key; NameUnknown if there is none."""
    stored = StoredCompilation(graph, compilation)
    return PlacedProgram(
        module=stored.totals.module,
        result=stored.totals.result,
        space_names={
            space.color: space.name or f"memory space {space.color}" for space in stored.spaces
        },
        allocations=stored.allocations,
        values=stored.values,
        instructions=_scheduled_and_making(stored),
    )


def step_range(value: StoredValue) -> StepRange | None:
    """Return the live range of a value; None if it has none."""
    if value.live_from is None or value.live_until is None:
        return None
    return StepRange(value.live_from, value.live_until)


def computation_of(instruction: StoredInstruction) -> str:
    """Return the computation of an instruction; `entry` if the dump does not say."""
    return instruction.computation or "entry"


def _scheduled_and_making(stored: StoredCompilation) -> tuple[StoredInstruction, ...]:
    makers = {value.name for value in stored.values}

    def order(instruction: StoredInstruction) -> tuple[bool, int, str]:
        return instruction.step is None, instruction.step or 0, instruction.name

    found = [each for each in stored.instructions if each.step is not None or each.name in makers]
    return tuple(sorted(found, key=order))
