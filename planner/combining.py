"""Combining: the temporary block of a memory space, made of tables and a heap.

Follows XLA's `BufferAssignment::CombineTempAllocations` (xla/service/buffer_assignment.cc). The
temporary allocations, one for each table and one for the heap, are moved behind all others
and combined, each part at the next aligned offset. Because the move swaps from both ends, the
order is read from XLA's plan. It matters because the last part is not padded.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

HEAP: Final = -1
"""Name of the heap among parts that are named after their buffer set."""


class BlockPart(NamedTuple):
    """A table or the heap."""

    buffer_set: int
    """Buffer set of a table, or `HEAP`."""
    size_bytes: int


def combined_bytes(parts: Iterable[BlockPart], order: Sequence[int], alignment: int) -> int:
    """Return the block's size; parts that `order` does not name are placed first."""
    rank = {name: row for row, name in enumerate(order)}
    end = 0
    for part in sorted(parts, key=lambda part: rank.get(part.buffer_set, -1)):
        end = rounded_up(end, alignment) + part.size_bytes
    return end


def rounded_up(size_bytes: int, alignment: int) -> int:
    """Return the next multiple of the alignment."""
    return -(-size_bytes // alignment) * alignment
