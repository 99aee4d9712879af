"""Read a compilation for planning: its program, and facts about its values."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, get_args

from xlagraph.queries.advice.op_marks import is_backward
from xlagraph.queries.stored_compilation.records import (
    StoredAllocation,
    StoredInstruction,
    StoredOverwrite,
    StoredPosition,
    StoredUse,
    StoredValue,
)
from xlagraph.queries.stored_compilation.stored_compilation import StoredCompilation
from xlagraph.runtime.garbage_collection import collector_paused
from xlagraph.xla_planner.planned_program import (
    PRESET_COLORS,
    Overwrite,
    PlannedAllocation,
    PlannedProgram,
    PlannedValue,
    Role,
)

__all__ = ["PlannableCompilation", "ValueFacts", "index_numbers", "plannable_compilation"]

_ALIGNMENTS: Final[Mapping[str | None, tuple[int, ...]]] = {
    "cpu": (64, 16),
    "gpu": (256, 128),
    "rocm": (256, 128),
}
"""Possible alignments by platform, largest first; each dump shows which one it uses."""
_COMMENT: Final = re.compile(r"/\*.*?\*/|\s")
_ELEMENT: Final = re.compile(r"(?:[^,({\[]|\([^)]*\)|\{[^}]*\}|\[[^\]]*\])+")
_ROLES: Final[tuple[Role, ...]] = get_args(Role)
_ALIGNMENTS_OF_OTHERS: Final = (16384, 512, 256, 128, 64, 16, 4)
_LAST: Final = 1 << 40
"""Place in the post-order of instructions that no module text mentions."""


class ValueFacts(NamedTuple):
    """Facts about a value that `PlannedValue` does not contain."""

    value_id: int
    label: str
    shape: str
    """Shape with layout."""
    dtype: str | None
    opcode: str | None
    op_name: str | None
    """Op name that the value is attributed to; its instruction's op name if no other is known."""
    own_op_name: str | None
    """Op name of its instruction."""
    is_stacked: bool
    """True if it is in a stack that the iterations of a loop fill."""
    source_lines: tuple[str, ...]
    """`file:line` of its instruction, of its attribution, and of the user's code."""
    live_until: int | None
    last_use: int | None
    needed_until: int | None
    """Last step that needs an entry parameter; None for other values."""
    color: int
    parameter: tuple[int, str] | None
    """Number and shape index if it is an entry parameter."""
    computation: str | None
    """Computation that contains its instruction."""

    @property
    def is_backward(self) -> bool:
        """True if its op name says that the backward pass computes it."""
        return is_backward(self.op_name)


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
    results = _results(stored.positions, totals.result)
    ranged = [value for value in stored.values if value.live_from is not None]
    stored_ids = _stored_ids(ranged, allocations)
    run_once = _run_once(totals.result, instructions, stored.values, stored.positions)
    values = _values(ranged, instructions, stored_ids, results, run_once, _Uses(stored.uses))
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
            value.value_id: _facts(
                value,
                instructions[value.name].computation,
                parameters.get(value.allocation) if value.value_id in stored_ids else None,
            )
            for value in stored.values
        },
        results=results,
        readers=_readers_by_id(values),
        has_buffer_sets=totals.result is not None
        and any(value.buffer_set is not None for value in stored.values),
        has_ranges=totals.schedule_length is not None,
        reserved_bytes=_reserved_bytes(allocations),
        result_shapes=_result_shapes(stored.positions, instructions.get(totals.result or "")),
        space_names={space.color: space.name for space in stored.spaces if space.name is not None},
    )


class _Uses:
    """Values that each instruction reads, by its name."""

    def __init__(self, uses: Iterable[StoredUse]) -> None:
        self.operands: defaultdict[str, list[int]] = defaultdict(list)
        """Values that are whole operands, in order."""
        self.reads: defaultdict[str, list[int]] = defaultdict(list)
        """Values that are whole operands or elements of them, in order."""
        for value_id, instruction, _, operand_index in sorted(uses, key=_operand_order):
            self.reads[instruction].append(value_id)
            if operand_index in (None, "{}"):
                self.operands[instruction].append(value_id)


def _operand_order(use: StoredUse) -> tuple[int, str, int]:
    return use.operand, use.operand_index or "", use.value_id


def _values(
    ranged: Sequence[StoredValue],
    instructions: Mapping[str, StoredInstruction],
    stored_ids: frozenset[int],
    results: Sequence[int],
    run_once: Collection[str],
    uses: _Uses,
) -> tuple[PlannedValue, ...]:
    """Return the values with a live range; `run_once` names computations outside of loops."""
    sizes: defaultdict[int, int] = defaultdict(int)
    for value in ranged:
        sizes[_buffer_set(value)] = max(sizes[_buffer_set(value)], value.size_bytes)
    lives_out = frozenset(results)
    planned = []
    for value in ranged:
        instruction = instructions[value.name]
        buffer_set = _buffer_set(value)
        planned.append(
            PlannedValue(
                value_id=value.value_id,
                size_bytes=sizes[buffer_set],
                color=value.memory_space,
                buffer_set=buffer_set,
                first=value.live_from or 0,
                last=value.live_until or 0,
                post_order=_LAST if instruction.post_order is None else instruction.post_order,
                allocation=value.allocation,
                offset_bytes=value.offset_bytes,
                instruction=value.name,
                is_in_entry=instruction.computation in run_once,
                is_stored=value.value_id in stored_ids,
                is_table=value.dtype == "tuple",
                is_copy=value.opcode == "copy",
                lives_out=value.value_id in lives_out,
                operands=tuple(uses.operands[value.name]) if value.shape_index is None else (),
                reads=tuple(dict.fromkeys(uses.reads[value.name])),
            )
        )
    return tuple(planned)


def _run_once(
    result: str | None,
    instructions: Mapping[str, StoredInstruction],
    values: Iterable[StoredValue],
    positions: Iterable[StoredPosition],
) -> frozenset[str]:
    """Return the entry computation and those that it calls, found by the values calls return."""
    root = None if result is None else instructions.get(result)
    made_in = {value.value_id: instructions[value.name].computation for value in values}
    returned = [
        (instructions[position.instruction].computation, made_in.get(position.value_id))
        for position in positions
        if position.instruction in instructions
        and instructions[position.instruction].opcode == "call"
    ]
    found = {root.computation if root is not None else None}
    while True:
        called = {callee for caller, callee in returned if caller in found} - found
        if not called:
            return frozenset(name for name in found if name is not None)
        found |= called


def _results(positions: Iterable[StoredPosition], result: str | None) -> tuple[int, ...]:
    """Return the ids of the values that the program returns, in result order."""
    ordered = sorted(
        (index_numbers(position.shape_index or "{}"), position.value_id)
        for position in positions
        if position.instruction == result
    )
    return tuple(value_id for _, value_id in ordered)


def _result_shapes(
    positions: Iterable[StoredPosition], result: StoredInstruction | None
) -> dict[int, str]:
    """Return the shapes of the returned values, read from the shape of the program's result."""
    if result is None or not result.shape:
        return {}
    is_tuple = result.shape.startswith("(")
    elements = _elements(result.shape) if is_tuple else [result.shape]
    found: dict[int, str] = {}
    for position in positions:
        if position.instruction == result.name:
            index = index_numbers(position.shape_index or "{}")
            if len(index) == is_tuple and (not index or index[0] < len(elements)):
                found[position.value_id] = elements[index[0] if index else 0]
    return found


def _elements(shape: str) -> list[str]:
    """Return the elements of a tuple shape: `(f32[2]{0}, s32[])` has `f32[2]{0}` and `s32[]`."""
    return [
        element for part in _ELEMENT.findall(shape[1:-1]) if (element := _COMMENT.sub("", part))
    ]


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


def _stored_ids(
    ranged: Iterable[StoredValue], allocations: Iterable[PlannedAllocation]
) -> frozenset[int]:
    """Return the ids of constants and entry parameters: the first value of each allocation."""
    kept = {
        allocation.number
        for allocation in allocations
        if allocation.role in ("constant", "parameter")
    }
    first: dict[int, tuple[int, int, int]] = {}
    for value in ranged:
        if value.allocation in kept:
            place = (value.live_from or 0, value.live_until or 0, value.value_id)
            first[value.allocation] = min(place, first.get(value.allocation, place))
    return frozenset(value_id for _, _, value_id in first.values())


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


def _facts(
    value: StoredValue, computation: str | None, parameter: tuple[int, str] | None
) -> ValueFacts:
    places = (
        (value.source_file, value.source_line),
        (value.attributed_file, value.attributed_line),
        (value.user_file, value.user_line),
    )
    lines = [f"{file}:{line}" for file, line in places if file is not None and line is not None]
    return ValueFacts(
        value_id=value.value_id,
        label=value.label,
        shape=f"{value.shape or ''}{value.layout or ''}",
        dtype=value.dtype,
        opcode=value.opcode,
        op_name=value.attributed_op_name or value.op_name,
        own_op_name=value.op_name,
        is_stacked=value.stack_loop is not None,
        source_lines=tuple(dict.fromkeys(lines)),
        live_until=value.live_until,
        last_use=value.last_use,
        needed_until=value.needed_until,
        color=value.memory_space,
        parameter=parameter,
        computation=computation,
    )


def _buffer_set(value: StoredValue) -> int:
    return value.value_id if value.buffer_set is None else value.buffer_set


def index_numbers(index: str) -> tuple[int, ...]:
    """Return the numbers of a shape index: `{1,0}` is (1, 0)."""
    return tuple(int(part) for part in index[1:-1].split(",") if part)
