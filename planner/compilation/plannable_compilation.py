"""Read a compilation for planning: its program, and facts about its values."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, get_args

from xlagraph.planner.compilation.planned_values import (
    constants_and_parameters,
    planned_values,
)
from xlagraph.planner.compilation.records import (
    StoredAllocation,
    StoredOverwrite,
)
from xlagraph.planner.compilation.results import result_shapes, results, run_once
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.compilation.value_facts import ValueFacts, value_facts
from xlagraph.planner.planned_program import (
    PRESET_COLORS,
    Overwrite,
    PlannedAllocation,
    PlannedProgram,
    PlannedValue,
    Role,
)
from xlagraph.runtime.garbage_collection import collector_paused

__all__ = ["PlannableCompilation", "plannable_compilation"]

_ALIGNMENTS: Final[Mapping[str | None, tuple[int, ...]]] = {
    "cpu": (64, 16),
    "gpu": (256, 128),
    "rocm": (256, 128),
}
"""Possible alignments by platform, largest first; each dump shows which one it uses."""
_ROLES: Final[tuple[Role, ...]] = get_args(Role)
_ALIGNMENTS_OF_OTHERS: Final = (16384, 512, 256, 128, 64, 16, 4)


@dataclass(frozen=True, slots=True)
class PlannableCompilation:
    """A compilation whose memory can be replanned."""

    key: str
    platform: str | None
    program: PlannedProgram
    facts: Mapping[int, ValueFacts]
    """Facts by value id, also of values without a live range."""
    results: tuple[int, ...]
    """Value ids in the order of the program's results."""
    readers: Mapping[int, tuple[int, ...]]
    """Values that are computed from a value, by its id."""
    has_buffer_sets: bool
    """True if a module text showed which values share an address; without it, no replanning."""
    has_ranges: bool
    """True if the dump has live ranges."""
    reserved_bytes: Mapping[int, int]
    """Reserved bytes by colour in XLA's plan, without thread-local memory."""
    space_names: Mapping[int, str]
    """HBM, VMEM, SMEM or host by colour, if known."""
    result_shapes: Mapping[int, str] = field(default_factory=dict)
    """Shape with layout in which the program returns a value, by value id. A bitcast can make it
    differ from the shape of the value."""

    @property
    def drops_needless_copies(self) -> bool:
        """True if the compiler drops copies after scheduling: on GPUs and TPUs."""
        return self.platform in ("gpu", "rocm") or self.space_names.get(0) == "HBM"


@collector_paused()
def plannable_compilation(stored: StoredCompilation) -> PlannableCompilation:
    """Read a stored compilation for planning."""
    totals = stored.totals
    instructions = {each.name: each for each in stored.instructions}
    allocations = tuple(map(_allocation, stored.allocations))
    returned = results(stored.positions, totals.result)
    ranged = [value for value in stored.values if value.live_from is not None]
    stored_ids = constants_and_parameters(ranged, allocations)
    values = planned_values(
        ranged,
        instructions,
        stored_ids,
        returned,
        run_once(totals.result, instructions, stored.values, stored.positions),
        stored.uses,
    )
    parameters = {
        allocation.number: (allocation.parameter_number, allocation.shape_index or "{}")
        for allocation in allocations
        if allocation.parameter_number is not None
    }
    return PlannableCompilation(
        key=stored.key,
        platform=totals.platform,
        program=PlannedProgram(
            values,
            allocations,
            _overwrites_by_id(stored.overwrites),
            _ALIGNMENTS.get(totals.platform, _ALIGNMENTS_OF_OTHERS),
            _given_bytes(values, allocations),
        ),
        facts={
            value.value_id: value_facts(
                value,
                instructions[value.name].computation,
                parameters.get(value.allocation) if value.value_id in stored_ids else None,
            )
            for value in stored.values
        },
        results=returned,
        readers=_readers_by_id(values),
        has_buffer_sets=totals.result is not None
        and any(value.buffer_set is not None for value in stored.values),
        has_ranges=totals.schedule_length is not None,
        reserved_bytes=_reserved_bytes(allocations),
        result_shapes=result_shapes(stored.positions, instructions.get(totals.result or "")),
        space_names={space.color: space.name for space in stored.spaces if space.name is not None},
    )


def _overwrites_by_id(overwrites: Iterable[StoredOverwrite]) -> dict[int, tuple[Overwrite, ...]]:
    found: defaultdict[int, list[Overwrite]] = defaultdict(list)
    for value_id, overwritten, _, is_operand in overwrites:
        found[value_id].append(Overwrite(overwritten, is_operand=is_operand))
    return {value_id: tuple(operands) for value_id, operands in found.items()}


def _readers_by_id(values: Sequence[PlannedValue]) -> dict[int, tuple[int, ...]]:
    readers: defaultdict[int, list[int]] = defaultdict(list)
    for value in values:
        for read in value.reads:
            readers[read].append(value.value_id)
    return {value_id: tuple(found) for value_id, found in readers.items()}


def _reserved_bytes(allocations: Sequence[PlannedAllocation]) -> dict[int, int]:
    reserved: defaultdict[int, int] = defaultdict(int)
    for allocation in allocations:
        if allocation.role != "threadLocal":
            reserved[allocation.color] += allocation.size_bytes
    return dict(reserved)


def _given_bytes(
    values: Sequence[PlannedValue], allocations: Sequence[PlannedAllocation]
) -> dict[int, int]:
    with_values = {value.allocation for value in values}
    given: defaultdict[int, int] = defaultdict(int)
    for allocation in allocations:
        is_preset = allocation.role == "temp" and allocation.color in PRESET_COLORS
        if allocation.role != "threadLocal" and (is_preset or allocation.number not in with_values):
            given[allocation.color] += allocation.size_bytes
    return dict(given)


def _allocation(stored: StoredAllocation) -> PlannedAllocation:
    return PlannedAllocation(
        stored.number,
        stored.size_bytes,
        stored.memory_space,
        next((role for role in _ROLES if role == stored.role), None),
        maybe_live_out=stored.maybe_live_out,
        parameter_number=stored.parameter_number,
        shape_index=stored.shape_index,
    )
