"""A complete replan: blocks are chosen, heaps simulated and packed, parts combined.

Taken from XLA's plan are the sizes of values and the allocations that are constants, parameters
or thread-local. Its replay adds the alignment, the strategy and the order of the combined parts.
Memory that XLA assigns before everything else (TPU VMEM, memory space 1) is unchanged.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from xlagraph.hlo.grouping import grouped
from xlagraph.planner.block_contents import Block
from xlagraph.planner.blocks import Blocks, choose_blocks
from xlagraph.planner.combining import HEAP, BlockPart, combined_bytes
from xlagraph.planner.heap import Group, heap_groups, live_bytes_by_step
from xlagraph.planner.packing import STRATEGIES, Packer
from xlagraph.planner.planned_program import PRESET_SPACES, PlannedProgram, PlannedValue
from xlagraph.planner.replay import Replay


@dataclass(frozen=True)
class HeapPlan:
    """The temporary block of one memory space."""

    memory_space: int
    size_bytes: int
    """Size of tables and heap, combined."""
    table_bytes: int
    groups: tuple[Group, ...]

    @cached_property
    def live_bytes_by_step(self) -> list[tuple[int, int]]:
        """Steps at which the live heap bytes change, and the bytes live from there on."""
        return live_bytes_by_step(self.groups)

    @property
    def lower_bound_bytes(self) -> int:
        """Lower bound of a block's size with these values, for every packing."""
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
    """Bytes of allocations that are not replanned, by memory space."""
    chosen: Blocks = field(repr=False, compare=False)
    """The choice of blocks, for programs that differ in a few values."""

    def temp_bytes(self, memory_space: int = 0) -> int:
        """Return the bytes of the temporary block of a memory space."""
        return sum(heap.size_bytes for heap in self.heaps if heap.memory_space == memory_space)

    def reserved_bytes(self, memory_space: int = 0) -> int:
        """Return all bytes of a memory space, without thread-local allocations."""
        blocks = sum(
            block.size_bytes for block in self.blocks if block.memory_space == memory_space
        )
        return blocks + self.temp_bytes(memory_space) + self.given_bytes.get(memory_space, 0)

    def unused_bytes(self, memory_space: int = 0) -> int:
        """Return the bytes of a temporary block above its lower bound."""
        heap = self.heap(memory_space)
        return heap.size_bytes - heap.lower_bound_bytes if heap is not None else 0

    def least_bytes(self, memory_space: int = 0) -> int:
        """Return the bytes that are reserved if the temporary block has no holes at its peak."""
        return self.reserved_bytes(memory_space) - self.unused_bytes(memory_space)

    def heap(self, memory_space: int = 0) -> HeapPlan | None:
        """Return the temporary block of a memory space, if it has one."""
        return next((heap for heap in self.heaps if heap.memory_space == memory_space), None)


def plan_memory(
    program: PlannedProgram, replays: Sequence[Replay], known: MemoryPlan | None = None
) -> MemoryPlan:
    """Plan a program, changed or not; `replays` are those of the program that XLA compiled.

    `known` is the plan of a program that has most of the values, if there is one.
    """
    preset = {
        allocation.number
        for allocation in program.allocations
        if allocation.role == "temp" and allocation.memory_space in PRESET_SPACES
    }
    planned: Sequence[PlannedValue] = program.values
    if preset:
        planned = [value for value in planned if value.allocation not in preset]
    chosen = choose_blocks(program, planned, known.chosen if known is not None else None)
    heaps = tuple(_heaps(program, replays, planned, chosen))
    return MemoryPlan(chosen.blocks, heaps, program.given_bytes, chosen)


def _heaps(
    program: PlannedProgram,
    replays: Sequence[Replay],
    values: Sequence[PlannedValue],
    chosen: Blocks,
) -> Iterable[HeapPlan]:
    set_sizes = Counter(value.buffer_set for value in values)
    by_space = grouped((value.memory_space, value) for value in chosen.heap_values)
    tables = grouped((block.memory_space, block) for block in chosen.tables)
    for memory_space in sorted(by_space.keys() | tables.keys()):
        known = next(
            (replay for replay in replays if replay.allocation.memory_space == memory_space), None
        )
        alignment = known.alignment if known else program.alignments[0]
        strategy = known.strategy if known else STRATEGIES[0]
        groups = heap_groups(by_space[memory_space], set_sizes, program.overwrites)
        packer = known.packer if known and known.packer else Packer(groups)
        if not packer.packs(groups):
            packer = Packer(groups)
        packing = packer.pack(alignment, strategy)
        parts = [
            BlockPart(block.values[0].buffer_set, block.size_bytes)
            for block in tables[memory_space]
        ]
        if by_space[memory_space]:
            parts.append(BlockPart(HEAP, packing.size_bytes))
        yield HeapPlan(
            memory_space,
            combined_bytes(parts, known.part_order if known else (), alignment),
            sum(block.size_bytes for block in tables[memory_space]),
            tuple(groups),
        )
