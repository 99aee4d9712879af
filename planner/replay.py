"""Replay: pack each temporary block again, with the sharing that its layout shows.

The strategy and the alignment that reproduce XLA's plan are those of its producer, and are used
for every replan. If none reproduces it, a replan after changes is not reliable.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from xlagraph.hlo.grouping import grouped
from xlagraph.planner.combining import HEAP, rounded_up
from xlagraph.planner.heap import Group, heap_groups
from xlagraph.planner.packing import STRATEGIES, Packer, Strategy
from xlagraph.planner.planned_program import (
    Overwrite,
    PlannedAllocation,
    PlannedProgram,
    PlannedValue,
)


@dataclass(frozen=True, slots=True)
class Replay:
    """One temporary block, packed again."""

    allocation: PlannedAllocation
    size_bytes: int
    offsets_equal: bool
    """True if every value has the offset that XLA gave it."""
    alignment: int
    strategy: Strategy
    part_order: tuple[int, ...]
    """Buffer sets of the tables, and `HEAP`, in the order of their offsets."""
    packer: Packer | None = field(default=None, repr=False, compare=False)
    """It knows the packing of these groups, which need not be found again."""

    @property
    def is_exact(self) -> bool:
        """True if size and offsets equal those of XLA."""
        return self.offsets_equal and self.size_bytes == self.allocation.size_bytes


def replay(program: PlannedProgram) -> tuple[Replay, ...]:
    """Pack each temporary block again, in the order of the allocations."""
    held = grouped((value.allocation, value) for value in program.values)
    return tuple(
        _replay(program, allocation, held[allocation.number])
        for allocation in program.allocations
        if allocation.role == "temp"
    )


def _replay(
    program: PlannedProgram, allocation: PlannedAllocation, values: Sequence[PlannedValue]
) -> Replay:
    tables = [value for value in values if value.is_table]
    heap_values = [value for value in values if not value.is_table and value.size_bytes]
    base = min((value.offset_bytes for value in heap_values), default=0)
    order = _part_order(tables, base, has_heap=bool(heap_values))
    sizes = {name: len(members) for name, members in program.sets.items()}
    groups = heap_groups(heap_values, sizes, _shared_operands(heap_values))
    offset_by_value = {value.value_id: value.offset_bytes - base for value in heap_values}
    packer = Packer(groups)
    wanted = _offsets(groups, offset_by_value)

    def packed(alignment: int, strategy: Strategy, enough_bytes: int = 0) -> Replay:
        packing = packer.pack(alignment, strategy, enough_bytes)
        size_bytes = _size_bytes(tables, base, packing.size_bytes, alignment)
        is_equal = packing.offsets == wanted
        return Replay(allocation, size_bytes, is_equal, alignment, strategy, order, packer)

    candidates = list(product(_alignments(program, values, base), STRATEGIES))
    for alignment, strategy in candidates:
        if packer.may_place(alignment, strategy, wanted):
            found = packed(alignment, strategy)
            if found.is_exact:
                return found
    tried: list[Replay] = []
    for alignment, strategy in candidates:
        without_heap = _size_bytes(tables, base, 0, alignment)
        least = _distance_to_multiple(allocation.size_bytes - without_heap, packer.unit(alignment))
        if not any(_distance(each) <= least for each in tried):  # none exact can be nearer
            enough_bytes = _too_small(tried, tables, base, alignment)
            tried.append(packed(alignment, strategy, enough_bytes))
    return min(tried, key=_distance)


def _distance(found: Replay) -> int:
    return abs(found.size_bytes - found.allocation.size_bytes)


def _distance_to_multiple(size_bytes: int, unit: int) -> int:
    above = size_bytes % unit
    return min(above, unit - above)


def _too_small(
    tried: Sequence[Replay], tables: Sequence[PlannedValue], base: int, alignment: int
) -> int:
    """Return bytes below which a heap is farther from XLA's plan than the nearest one tried."""
    if not tried:
        return 0
    nearest = min(tried, key=_distance)
    others = _size_bytes(tables, base, 0, alignment) + alignment  # all parts but the heap
    return nearest.allocation.size_bytes - _distance(nearest) - others


def _size_bytes(tables: Iterable[PlannedValue], base: int, heap_bytes: int, alignment: int) -> int:
    """Return the block's size if the heap takes `heap_bytes`."""
    parts = sorted({(value.offset_bytes, value.size_bytes) for value in tables} | {(base, -1)})
    end = 0
    for _, size_bytes in parts:
        end = rounded_up(end, alignment) + (heap_bytes if size_bytes < 0 else size_bytes)
    return end


def _part_order(tables: Iterable[PlannedValue], base: int, *, has_heap: bool) -> tuple[int, ...]:
    parts = {(value.offset_bytes, value.buffer_set) for value in tables}
    if has_heap:
        parts.add((base, HEAP))
    return tuple(name for _, name in sorted(parts))


def _shared_operands(values: Sequence[PlannedValue]) -> dict[int, list[Overwrite]]:
    """Return for each value those of other sets that end as it begins, at the same offset."""
    ending = grouped(((value.live_until, value.offset_bytes), value) for value in values)
    shared: dict[int, list[Overwrite]] = {}
    for value in values:
        found = [
            Overwrite(earlier.value_id, is_operand=True, may_share_block=False)
            for earlier in ending.get((value.live_from, value.offset_bytes), ())
            if earlier.buffer_set != value.buffer_set and earlier.live_from <= value.live_from
        ]
        if found:
            shared[value.value_id] = found
    return shared


def _offsets(groups: Sequence[Group], offset_by_value: Mapping[int, int]) -> tuple[int | None, ...]:
    """Return the offset that XLA gave all values of a group; None if it gave several."""
    found = [{offset_by_value[value_id] for value_id in group.value_ids} for group in groups]
    return tuple([offsets.pop() if len(offsets) == 1 else None for offsets in found])


def _alignments(program: PlannedProgram, values: Iterable[PlannedValue], base: int) -> list[int]:
    """Return the alignments that divide every offset, the largest first."""
    offsets = {value.offset_bytes for value in values if value.size_bytes} | {base}
    dividing = [
        alignment
        for alignment in program.alignments
        if all(offset % alignment == 0 for offset in offsets)
    ]
    return dividing or [1]
