"""Choice of a block for each buffer set: a new block, a free one, or the heap.

Follows XLA's `BufferAssigner::AssignBuffersForComputations`, `AssignSingleHloBuffer` and
`MaybeAssignBuffer` (xla/service/buffer_assignment.cc). Buffer sets are ordered by size, largest
first, then sets that live out, then by post-order. Each set gets the first block that fits:

1. a constant or an entry parameter gets a new block;
2. a set with a tuple's table gets a new block that nothing else may use; if it does not live
   out, the block is combined with the heap later;
3. the block of an operand of a member, operands in order;
4. a reusable block, the newest first;
5. the heap, if the set does not live out; else a new block, which is reusable.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

from xlagraph.planner.block_contents import Block, HeldValues, ReusableBlocks
from xlagraph.planner.planned_program import (
    Overwrite,
    PlannedAllocation,
    PlannedProgram,
    PlannedValue,
    members_of_sets,
)


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a plan, and the values that go to the heaps."""

    blocks: tuple[Block, ...]
    tables: tuple[Block, ...]
    """Temporary tables, which are combined with the heap of their memory space."""
    heap_values: tuple[PlannedValue, ...]
    search: "_Search" = field(repr=False, compare=False)
    """The search that chose them, to reuse it for a program that differs in a few values."""


_Members = Sequence[PlannedValue]
_Rank = tuple[int, bool, int, int]
_MOST_CHANGED: Final = 1 / 4
"""Part of the sets that may differ; if more do, another search is faster."""


def choose_blocks(
    program: PlannedProgram, values: Sequence[PlannedValue], known: Blocks | None = None
) -> Blocks:
    """Choose a block for each buffer set of `values`, which are those of the program or some.

    `known` are the blocks of a program with most of these values. If the same sets take a block
    here, they take the same: sets that go to the heap do not matter to others.
    """
    sets = program.sets if len(values) == len(program.values) else members_of_sets(values)
    if known is not None and known.search.finds_same(program, sets):
        in_blocks = known.search.block_by_value
        heap_values = tuple([value for value in values if value.value_id not in in_blocks])
        return replace(known, heap_values=heap_values)
    return _Search(program, sets).found()


def share_blocks(values: Iterable[PlannedValue], allocations: Iterable[PlannedAllocation]) -> bool:
    """Return True if XLA put a temporary into the block of a result or of a parameter."""
    blocks = {each.number for each in allocations if each.role != "temp"}
    in_blocks = [value for value in values if value.allocation in blocks and value.size_bytes]
    own = {
        value.buffer_set
        for value in in_blocks
        if value.is_stored or value.lives_out or value.is_table
    }
    return any(value.buffer_set not in own for value in in_blocks)


class _Search:
    """Chooses a block for each buffer set, and knows the blocks before each of them."""

    def __init__(self, program: PlannedProgram, sets: Mapping[int, _Members]) -> None:
        self._program = program
        self._sets = sets
        self._reusable = ReusableBlocks()
        self._ranks: list[_Rank] = []
        """Ranks of the sets that took a block, in their order."""
        self._counts: list[int] = []
        """Number of sets in reusable blocks before each of these sets."""
        self.block_by_value: dict[int, Block] = {}

    def found(self) -> Blocks:
        """Return the blocks, and the values that go to the heaps."""
        blocks: list[Block] = []
        tables: list[Block] = []
        heap_values: list[PlannedValue] = []
        for rank, members in sorted([(_rank(members), members) for members in self._sets.values()]):
            lives_out = not rank[1]
            block = _own_block(self._program, members)
            if block is None and not lives_out and self._program.needs_heap(members):
                heap_values += members
                continue
            if block is None:
                block = self._first_free(members, lives_out=lives_out)
                if block is None and not lives_out:
                    heap_values += members
                    continue
                if block is None:
                    block = Block(members[0].size_bytes, members[0].memory_space)
            self._ranks.append(rank)
            self._counts.append(self._reusable.held_count)
            if not block.values:
                (tables if block.is_table and not lives_out else blocks).append(block)
                if not (block.is_read_only or block.is_table):
                    self._reusable.add(block)
            block.hold(members)
            self._reusable.hold(block, members)
            for value in members:
                self.block_by_value[value.value_id] = block
        return Blocks(tuple(blocks), tuple(tables), tuple(heap_values), self)

    def _first_free(self, members: _Members, *, lives_out: bool) -> Block | None:
        """Return the first block that the members may take; None if there is none."""
        overwrites = self._program.overwrites
        for block in _operand_blocks(members, self.block_by_value):
            if _may_take(block, members, overwrites, lives_out=lives_out):
                return block
        for block in self._reusable.without_overlap(members):
            if _may_take(block, members, overwrites, lives_out=lives_out):
                return block
        return None

    def finds_same(self, program: PlannedProgram, sets: Mapping[int, _Members]) -> bool:
        """Return True if the same sets of another program take a block; its others do not.

        False also if so much differs that another search is faster.
        """
        own = self._program
        if program.overwrites is not own.overwrites or program.allocations is not own.allocations:
            return False
        changed = [members for name, members in sets.items() if self._sets.get(name) != members]
        if len(changed) > _MOST_CHANGED * len(sets):
            return False
        in_blocks = [rank[-1] for rank in self._ranks]
        if any(sets.get(name) != self._sets[name] for name in in_blocks):
            return False
        ranked = sorted([(_rank(members), members) for members in changed])
        reusable = ReusableBlocks()
        return not any(self._takes_block(rank, members, reusable) for rank, members in ranked)

    def _takes_block(self, rank: _Rank, members: _Members, reusable: ReusableBlocks) -> bool:
        """Return True if a set takes a block when its turn comes among those searched.

        ``reusable`` are the reusable blocks at an earlier turn.
        """
        if not rank[1] or _own_block(self._program, members) is not None:
            return True
        if self._program.needs_heap(members):
            return False
        row = bisect_left(self._ranks, rank)
        held = self._counts[row] if row < len(self._counts) else self._reusable.held_count
        reusable.repeat(self._reusable, held)
        operands = _operand_blocks(members, self.block_by_value)
        shared = chain(operands, reusable.without_overlap(members))
        return any(self._is_free_before(rank, block, members) for block in shared)

    def _is_free_before(self, rank: _Rank, block: Block, members: _Members) -> bool:
        """Return True if a set may take a block before the sets of higher ranks do."""
        held = HeldValues(
            value for value in block.values if _rank(self._sets[value.buffer_set]) < rank
        )
        return (
            bool(held)
            and _fits(block, members, lives_out=False)
            and not any(held.interfere(value, self._program.overwrites) for value in members)
        )


def _own_block(program: PlannedProgram, members: _Members) -> Block | None:
    """Return a new block for constants, entry parameters and tables; None for other sets."""
    size_bytes, memory_space = members[0].size_bytes, members[0].memory_space
    has_table = False
    for value in members:
        if value.is_stored and (stored := program.stored_in(value)) is not None:
            return Block(size_bytes, memory_space, is_read_only=stored.is_read_only)
        has_table = has_table or value.is_table
    return Block(size_bytes, memory_space, is_table=True) if has_table else None


def _rank(members: _Members) -> _Rank:
    first = members[0]
    if len(members) == 1:  # most sets are one value
        return -first.size_bytes, not first.lives_out, first.post_order, first.buffer_set
    return (
        -first.size_bytes,
        not any(value.lives_out for value in members),
        min(value.post_order for value in members),
        first.buffer_set,
    )


def _operand_blocks(
    members: Iterable[PlannedValue], block_by_value: Mapping[int, Block]
) -> Iterable[Block]:
    for value in members:
        for operand in value.operands:
            if (block := block_by_value.get(operand)) is not None:
                yield block


def _may_take(
    block: Block,
    members: _Members,
    overwrites: Mapping[int, tuple[Overwrite, ...]],
    *,
    lives_out: bool,
) -> bool:
    fits = _fits(block, members, lives_out=lives_out)
    return fits and not block.interferes(members, overwrites)


def _fits(block: Block, members: _Members, *, lives_out: bool) -> bool:
    size_bytes = members[0].size_bytes
    return (
        not block.is_read_only
        and not block.is_table
        and block.memory_space == members[0].memory_space
        and size_bytes <= block.size_bytes
        and (not lives_out or size_bytes == block.size_bytes)
    )
