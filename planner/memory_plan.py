"""A complete replan: blocks are chosen, heaps simulated and packed, parts combined.

Taken from XLA's plan are the sizes of values and the allocations that are constants, parameters
or thread-local. Its replay adds the alignment, the strategy and the order of the combined parts.
Memory that XLA assigns before everything else (TPU VMEM, colour 1) is unchanged.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xlagraph.planner.blocks import Block, Blocks, choose_blocks
from xlagraph.planner.combining import HEAP, BlockPart, combined_bytes
from xlagraph.planner.heap import Group, heap_groups, live_bytes_by_step
from xlagraph.planner.packing import STRATEGIES, pack
from xlagraph.planner.planned_program import PRESET_COLORS, PlannedProgram, PlannedValue
from xlagraph.planner.replay import Replay

__all__ = ["HeapPlan", "MemoryPlan", "replan"]


@dataclass(frozen=True, slots=True)
class HeapPlan:
    """The temporary block of one colour."""

    color: int
    size_bytes: int
    """Size of tables and heap, combined."""
    table_bytes: int
    groups: tuple[Group, ...]

    @property
    def live_bytes_by_step(self) -> list[tuple[int, int]]:
        """Steps at which the live heap bytes change, and the bytes live from there on."""
        return live_bytes_by_step(self.groups)

    @property
    def lower_bound_bytes(self) -> int:
        """Lower bound of the size of a block with these values, for every packing."""
        live = max((total for _, total in self.live_bytes_by_step), default=0)
        return self.table_bytes + live

    @property
    def peak_step(self) -> int | None:
        """First step at which most bytes of the heap are live; None without a heap."""
        live = self.live_bytes_by_step
        return max(live, key=lambda point: (point[1], -point[0]))[0] if live else None


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Memory that a program reserves."""

    blocks: tuple[Block, ...]
    """All blocks except temporary ones and allocations without a live range."""
    heaps: tuple[HeapPlan, ...]
    given_bytes: Mapping[int, int]
    """Bytes of allocations that are not replanned, by colour."""

    def temp_bytes(self, color: int = 0) -> int:
        """Return the bytes of the temporary block of a colour."""
        return sum(heap.size_bytes for heap in self.heaps if heap.color == color)

    def reserved_bytes(self, color: int = 0) -> int:
        """Return all bytes of a colour, without thread-local allocations."""
        blocks = sum(block.size_bytes for block in self.blocks if block.color == color)
        return blocks + self.temp_bytes(color) + self.given_bytes.get(color, 0)

    def heap(self, color: int = 0) -> HeapPlan | None:
        """Return the temporary block of a colour, if it has one."""
        return next((heap for heap in self.heaps if heap.color == color), None)


def replan(program: PlannedProgram, replays: Sequence[Replay]) -> MemoryPlan:
    """Replan a program, changed or not; `replays` are those of the program that XLA compiled."""
    preset = {
        allocation.number
        for allocation in program.allocations
        if allocation.role == "temp" and allocation.color in PRESET_COLORS
    }
    planned = [value for value in program.values if value.allocation not in preset]
    chosen = choose_blocks(program, planned)
    heaps = tuple(_heaps(program, replays, planned, chosen))
    return MemoryPlan(chosen.blocks, heaps, program.given_bytes)


def _heaps(
    program: PlannedProgram,
    replays: Sequence[Replay],
    values: Sequence[PlannedValue],
    chosen: Blocks,
) -> Iterable[HeapPlan]:
    set_sizes = Counter(value.buffer_set for value in values)
    overwrites = {
        value_id: [overwrite.value_id for overwrite in found if overwrite.is_operand]
        for value_id, found in program.overwrites.items()
    }
    by_color: defaultdict[int, list[PlannedValue]] = defaultdict(list)
    for value in chosen.heap_values:
        by_color[value.color].append(value)
    tables: defaultdict[int, list[Block]] = defaultdict(list)
    for block in chosen.tables:
        tables[block.color].append(block)
    for color in sorted(by_color.keys() | tables.keys()):
        known = next((replay for replay in replays if replay.allocation.color == color), None)
        alignment = known.alignment if known else program.alignments[0]
        strategy = known.strategy if known else STRATEGIES[0]
        groups = heap_groups(by_color[color], set_sizes, overwrites)
        packing = pack(groups, alignment, strategy)
        parts = [BlockPart(block.values[0].buffer_set, block.size_bytes) for block in tables[color]]
        if by_color[color]:
            parts.append(BlockPart(HEAP, packing.size_bytes))
        yield HeapPlan(
            color,
            combined_bytes(parts, known.part_order if known else (), alignment),
            sum(block.size_bytes for block in tables[color]),
            tuple(groups),
        )
