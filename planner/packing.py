"""Best-fit packing of a heap: an offset for each group of values that share bytes.

Follows XLA's `GlobalDecreasingSizeBestFitHeap` and `ChooseBestHeapAlgorithm` (xla/service/
heap_simulator/heap_simulator.cc). Groups are placed one after another in the order of the
strategy. A group takes the smallest gap that is free while its values are live and that is
large enough, the lowest of equal ones; if there is none, it is placed on top. A gap begins at the
end of the chunks below it, rounded up to the alignment.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np
import numpy.typing as npt

from xlagraph.planner.combining import rounded_up
from xlagraph.planner.heap import Group, live_bytes_by_step, merged

__all__ = ["STRATEGIES", "Order", "Packing", "Strategy", "pack"]


class Order(Enum):
    """Order in which groups are placed; ties are broken by the id of the first value."""

    SPATIAL = "spatial"
    """Largest first, then the longest first value."""
    TEMPORAL = "temporal"
    """Longest first, from earliest to latest tick, then the largest."""
    START = "start"
    """Earliest first, then the largest."""


_KEYS: Final[dict[Order, Callable[[Group], tuple[int, int, int]]]] = {
    Order.SPATIAL: lambda group: (
        -group.size_bytes,
        group.ticks[0][0] - group.ticks[0][1],
        group.value_ids[0],
    ),
    Order.TEMPORAL: lambda group: (
        group.ticks[0][0] - max(last for _, last in group.ticks),
        -group.size_bytes,
        group.value_ids[0],
    ),
    Order.START: lambda group: (group.ticks[0][0], -group.size_bytes, group.value_ids[0]),
}


@dataclass(frozen=True, slots=True)
class Strategy:
    """Packing strategy of a producer of dumps."""

    orders: tuple[Order, ...]
    """Orders that are tried; the smallest heap is used, the first of equal ones."""
    has_bounded_top: bool = False
    """True if the space above the last chunk, up to the current heap size, counts as a gap."""


STRATEGIES: Final = (
    Strategy((Order.SPATIAL, Order.TEMPORAL)),  # CPU and GPU since 2022, libtpu 0.0.17
    Strategy((Order.START,)),  # TPU since libtpu 0.0.42
    Strategy((Order.SPATIAL, Order.TEMPORAL), has_bounded_top=True),  # TensorFlow up to 2.9
)
"""Strategies, most likely first. Dumps do not name theirs; the first exact replay is used."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Size of a heap, and the offset of each group."""

    size_bytes: int
    offsets: tuple[int, ...]
    """Offsets in bytes, aligned with the groups."""


def pack(groups: Sequence[Group], alignment: int, strategy: Strategy) -> Packing:
    """Pack the groups; O(n²) with a small constant: 20,000 groups take a few seconds."""
    best: Packing | None = None
    least = max((total for _, total in live_bytes_by_step(groups)), default=0)
    for order in strategy.orders:
        most = best.size_bytes if best is not None else None
        found = _pack(groups, alignment, order, has_bounded_top=strategy.has_bounded_top, most=most)
        best = found or best
        if best is not None and best.size_bytes <= least:
            break  # no other order is smaller
    return best or Packing(0, ())


def _pack(
    groups: Sequence[Group],
    alignment: int,
    order: Order,
    *,
    has_bounded_top: bool,
    most: int | None,
) -> Packing | None:
    """Pack the groups in an order; None if they take `most` bytes or more."""
    chunks = _Chunks(sum(len(merged(group.ticks)) for group in groups), alignment)
    offsets = [0] * len(groups)
    heap_bytes = 0
    key = _KEYS[order]
    for row in sorted(range(len(groups)), key=lambda row: key(groups[row])):
        group = groups[row]
        ticks = merged(group.ticks)
        limit = heap_bytes if has_bounded_top else None
        offset = chunks.best_offset(ticks, group.size_bytes, limit)
        chunks.add(ticks, offset, group.size_bytes)
        offsets[row] = offset
        heap_bytes = max(heap_bytes, offset + group.size_bytes)
        if most is not None and heap_bytes >= most:
            return None
    return Packing(heap_bytes, tuple(offsets))


_Mask = npt.NDArray[np.bool_]


class _Chunks:
    """The chunks placed so far, by offset: one row for each interval of ticks."""

    def __init__(self, capacity: int, alignment: int) -> None:
        # first tick, last tick, offset, and end rounded up, where a gap begins
        self._rows: npt.NDArray[np.int64] = np.empty((4, capacity), np.int64)
        self._alignment = alignment
        self._count = 0

    def add(self, ticks: Iterable[tuple[int, int]], offset: int, size_bytes: int) -> None:
        """Place a chunk for each interval."""
        rows = self._rows
        end = rounded_up(offset + size_bytes, self._alignment)
        for first, last in ticks:
            count = self._count
            row = int(rows[2, :count].searchsorted(offset, side="right"))
            rows[:, row + 1 : count + 1] = rows[:, row:count]
            rows[:, row] = (first, last, offset, end)
            self._count += 1

    def best_offset(
        self, ticks: Sequence[tuple[int, int]], size_bytes: int, heap_bytes: int | None
    ) -> int:
        """Return the best offset of a chunk; `heap_bytes` bounds the gap at the top if given."""
        firsts, lasts, offsets, ends = self._rows[:, : self._count]
        (first, last), *others = ticks
        live: _Mask = (firsts <= last) & (lasts >= first)
        for first, last in others:
            live |= (firsts <= last) & (lasts >= first)
        rows = live.nonzero()[0]
        if not len(rows):
            return 0
        # a gap lies between the highest end below it and the chunk above; the first begins at 0
        below = np.maximum.accumulate(ends[rows])
        gaps = offsets[rows]
        gaps[1:] -= below[:-1]
        if heap_bytes is not None:
            gaps = np.append(gaps, heap_bytes - below[-1])
        fitting = (gaps >= size_bytes).nonzero()[0]
        if not len(fitting):
            return int(below[-1])
        best = fitting[gaps[fitting].argmin()]
        return int(below[best - 1]) if best else 0
