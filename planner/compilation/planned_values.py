"""Turn stored values into values that can be planned."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from xlagraph.planner.compilation.records import StoredInstruction, StoredUse, StoredValue
from xlagraph.planner.planned_program import PlannedAllocation, PlannedValue

__all__ = ["constants_and_parameters", "planned_values"]

_LAST: Final = 1 << 40
"""Place in the post-order of instructions that no module text mentions."""


def planned_values(
    ranged: Sequence[StoredValue],
    instructions: Mapping[str, StoredInstruction],
    stored_ids: frozenset[int],
    results: Sequence[int],
    run_once: Collection[str],
    stored_uses: Iterable[StoredUse],
) -> tuple[PlannedValue, ...]:
    """Return the values with a live range; `run_once` names computations outside of loops."""
    uses = _Uses(stored_uses)
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


def constants_and_parameters(
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


def _buffer_set(value: StoredValue) -> int:
    return value.value_id if value.buffer_set is None else value.buffer_set
