"""Best-fit packing of a heap: an offset for each group of values that share bytes.

Follows XLA's `GlobalDecreasingSizeBestFitHeap` and `ChooseBestHeapAlgorithm` (xla/service/
heap_simulator/heap_simulator.cc). Groups are placed one after another in the order of the
strategy. A group takes the smallest gap that is free while its values are live and that is
large enough, the lowest of equal ones; if there is none, it is placed on top. A gap begins at the
end of the chunks below it, rounded up to the alignment.
"""

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain
from math import gcd
from typing import Final

import numpy as np

from xlagraph.planner.combining import rounded_up
from xlagraph.planner.heap import Group, live_bytes_by_step, merged


class Order(Enum):
    """Order in which groups are placed; ties are broken by the id of the first value."""

    SPATIAL = "spatial"
    """Largest first, then the longest first value."""
    TEMPORAL = "temporal"
    """Longest first, from earliest to latest tick, then the largest."""
    START = "start"
    """Earliest first, then the largest; a group is live from its first value to its last one."""


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


@dataclass(frozen=True, slots=True)
class _Trial:
    """The groups placed in one order."""

    packing: Packing | None
    """None if they take as many bytes as another order, or more, or other offsets than wanted."""
    depends_on_top: bool
    """True if it matters that the space at the top counts as a gap."""


_Intervals = Sequence[tuple[int, int]]
"""Disjoint intervals in which a group is live, both ends inclusive."""


def pack(groups: Sequence[Group], alignment: int, strategy: Strategy) -> Packing:
    """Pack the groups once; a `Packer` packs them by several strategies."""
    return Packer(groups).pack(alignment, strategy)


class Packer:
    """Packs the same groups by several strategies.

    O(n²) with a small constant: 20,000 groups take about a second for each order.
    """

    def __init__(self, groups: Sequence[Group]) -> None:
        self._groups = tuple(groups)
        self._trials: dict[tuple[int, Order, int | None, bool], _Trial] = {}
        self._orders: dict[Order, list[int]] = {}

    def packs(self, groups: Sequence[Group]) -> bool:
        """Return True if these are the groups that it packs."""
        return self._groups == tuple(groups)

    def may_place(self, alignment: int, strategy: Strategy, offsets: Sequence[int | None]) -> bool:
        """Return True if one of the strategy's orders gives the groups these offsets.

        Most do not, which the first groups show.
        """
        alignment, has_bound = self._least_alignment(alignment), strategy.has_bounded_top
        for order in strategy.orders:
            trial = self._place(alignment, order, None, has_bound=has_bound, wanted=offsets)
            if trial.packing is not None:
                self._trials[alignment, order, None, has_bound] = trial
                return True
        return False

    def unit(self, alignment: int) -> int:
        """Return a number of bytes of which every size of the heap is a multiple."""
        return self._sizes_unit if self._least_alignment(alignment) == 1 else 1

    def _least_alignment(self, alignment: int) -> int:
        """Return 1 if every size is a multiple of the alignment: nothing is rounded up then."""
        return 1 if self._sizes_unit % alignment == 0 else alignment

    @cached_property
    def _sizes_unit(self) -> int:
        return gcd(*(group.size_bytes for group in self._groups)) or 1

    def pack(self, alignment: int, strategy: Strategy, enough_bytes: int = 0) -> Packing:
        """Pack the groups; no other order is tried once they take less than `enough_bytes`."""
        alignment = self._least_alignment(alignment)
        best: Packing | None = None
        for number, order in enumerate(strategy.orders, 1):
            most = best.size_bytes if best is not None else None
            trial = self._trial(alignment, order, most, has_bound=strategy.has_bounded_top)
            best = trial.packing or best
            if number == len(strategy.orders) or best is None:
                continue
            if best.size_bytes < enough_bytes or best.size_bytes <= self._least_bytes:
                break  # no other order is smaller, or needs to be
        return best or Packing(0, ())

    def _trial(self, alignment: int, order: Order, most: int | None, *, has_bound: bool) -> _Trial:
        unbounded = self._trials.get((alignment, order, most, False))
        if has_bound and unbounded is not None and not unbounded.depends_on_top:
            return unbounded
        key = alignment, order, most, has_bound
        if key not in self._trials:
            self._trials[key] = self._place(alignment, order, most, has_bound=has_bound)
        return self._trials[key]

    def _place(
        self,
        alignment: int,
        order: Order,
        most: int | None,
        *,
        has_bound: bool,
        wanted: Sequence[int | None] | None = None,
    ) -> _Trial:
        """Place the groups in an order; stop when they take `most` bytes, or no wanted offset."""
        chunks, intervals = self._chunks(alignment, order, has_bound=has_bound)
        offsets = [0] * len(self._groups)
        for row in self._rows(order):
            offset = chunks.place(intervals[row], self._groups[row].size_bytes)
            is_too_large = most is not None and chunks.heap_bytes >= most
            if is_too_large or (wanted is not None and offset != wanted[row]):
                return _Trial(None, chunks.depends_on_top)
            offsets[row] = offset
        return _Trial(Packing(chunks.heap_bytes, tuple(offsets)), chunks.depends_on_top)

    def _chunks(
        self, alignment: int, order: Order, *, has_bound: bool
    ) -> "tuple[_Chunks | _LiveChunks, Sequence[_Intervals]]":
        if order is Order.START:
            return _LiveChunks(alignment, has_bound=has_bound), self._spans
        return _Chunks(alignment, self._ranks, has_bound=has_bound), self._ranks

    def _rows(self, order: Order) -> list[int]:
        """Rows of the groups in an order."""
        if order not in self._orders:
            keys = list(map(_KEYS[order], self._groups))
            self._orders[order] = sorted(range(len(keys)), key=keys.__getitem__)
        return self._orders[order]

    @cached_property
    def _least_bytes(self) -> int:
        return max((total for _, total in live_bytes_by_step(self._groups)), default=0)

    @cached_property
    def _ticks(self) -> list[_Intervals]:
        """Intervals of each group, in ticks."""
        return [merged(group.ticks) for group in self._groups]

    @cached_property
    def _spans(self) -> list[_Intervals]:
        """The ticks from the first to the last of each group, as one interval."""
        return [[(each.ticks[0][0], max(last for _, last in each.ticks))] for each in self._groups]

    @cached_property
    def _ranks(self) -> list[_Intervals]:
        """Intervals of each group, in ranks: the number of intervals that end before a tick.

        Ranks overlap as ticks do, and most programs need no more than two bytes for one.
        """
        # `np.unique` would import much
        ends = np.array(sorted({last for intervals in self._ticks for _, last in intervals}))
        ranks = iter(ends.searchsorted(list(chain.from_iterable(chain(*self._ticks)))).tolist())
        return [[(next(ranks), next(ranks)) for _ in intervals] for intervals in self._ticks]


class _Chunks:
    """The chunks placed so far, by offset: one for each interval.

    Arrays can insert in place; numpy compares them.
    """

    def __init__(self, alignment: int, intervals: Sequence[_Intervals], *, has_bound: bool) -> None:
        self._alignment = alignment
        self._has_bound = has_bound
        latest = max((last for group in intervals for _, last in group), default=0)
        code = "H" if latest < 1 << 16 else "I"
        self._rank = np.dtype(code)
        self._firsts, self._lasts = array(code), array(code)
        self._offsets, self._ends = array("q"), array("q")
        """Offsets of the values, and their ends, rounded up to the next possible offset."""
        self.heap_bytes = 0
        self.depends_on_top = False
        """True if the room at the top, up to the heap's size, was the best gap for a group."""

    def place(self, intervals: _Intervals, size_bytes: int) -> int:
        """Place a chunk at its best offset, and return the offset."""
        offset = self._best_offset(intervals, size_bytes)
        end = rounded_up(offset + size_bytes, self._alignment)
        for first, last in intervals:
            row = bisect_right(self._offsets, offset)
            self._firsts.insert(row, first)
            self._lasts.insert(row, last)
            self._offsets.insert(row, offset)
            self._ends.insert(row, end)
        self.heap_bytes = max(self.heap_bytes, offset + size_bytes)
        return offset

    def _best_offset(self, intervals: _Intervals, size_bytes: int) -> int:
        if not self._offsets:
            return 0
        firsts, lasts = (np.frombuffer(ranks, self._rank) for ranks in (self._firsts, self._lasts))
        (first, last), *others = intervals
        live = firsts <= last
        live &= lasts >= first
        for first, last in others:
            live |= (firsts <= last) & (lasts >= first)
        rows = live.nonzero()[0]
        if not len(rows):
            return 0
        # a gap lies between the highest end below it and the chunk above; the first begins at 0
        below = np.maximum.accumulate(np.frombuffer(self._ends, np.int64).take(rows))
        gaps = np.frombuffer(self._offsets, np.int64).take(rows)
        gaps[1:] -= below[:-1]
        top = int(below[-1])
        fitting = (gaps >= size_bytes).nonzero()[0]
        if not len(fitting):
            return top
        best = fitting[gaps[fitting].argmin()]
        if size_bytes <= self.heap_bytes - top < gaps[best]:
            self.depends_on_top = True
            if self._has_bound:
                return top
        return int(below[best - 1]) if best else 0


class _LiveChunks:
    """The chunks that are live where the next group begins: groups are placed by their start.

    Live chunks never overlap, so the free bytes between them are the gaps: O(log n) for a group.
    """

    def __init__(self, alignment: int, *, has_bound: bool) -> None:
        self._alignment = alignment
        self._has_bound = has_bound
        self._live: list[tuple[int, int, int]] = []
        """Last tick, offset and end of each live chunk: a heap."""
        self._gaps: list[tuple[int, int]] = []
        """Size and offset of each gap, sorted."""
        self._end_by_offset: dict[int, int] = {}
        """End of each gap by its offset, and the reverse."""
        self._offset_by_end: dict[int, int] = {}
        self._top = 0
        self.heap_bytes = 0
        self.depends_on_top = False
        """True if the room at the top, up to the heap's size, was the best gap for a group."""

    def place(self, intervals: _Intervals, size_bytes: int) -> int:
        """Place a chunk at its best offset, and return the offset."""
        ((first, last),) = intervals
        while self._live and self._live[0][0] < first:
            _, offset, end = heappop(self._live)
            self._free(offset, end)
        offset = self._best_offset(size_bytes)
        end = rounded_up(offset + size_bytes, self._alignment)
        if offset == self._top:
            self._top = end
        else:
            gap_end = self._end_by_offset[offset]
            self._drop_gap(offset, gap_end)
            if end < gap_end:
                self._add_gap(end, gap_end)
        heappush(self._live, (last, offset, end))
        self.heap_bytes = max(self.heap_bytes, offset + size_bytes)
        return offset

    def _best_offset(self, size_bytes: int) -> int:
        row = bisect_left(self._gaps, (size_bytes, 0))
        if row == len(self._gaps):
            return self._top
        gap_bytes, offset = self._gaps[row]
        if size_bytes <= self.heap_bytes - self._top < gap_bytes:
            self.depends_on_top = True
            if self._has_bound:
                return self._top
        return offset

    def _free(self, offset: int, end: int) -> None:
        """Return the bytes of a chunk to the gaps next to it, or to the top."""
        if (before := self._offset_by_end.get(offset)) is not None:
            self._drop_gap(before, offset)
            offset = before
        if end == self._top:
            self._top = offset
            return
        if (after := self._end_by_offset.get(end)) is not None:
            self._drop_gap(end, after)
            end = after
        self._add_gap(offset, end)

    def _add_gap(self, offset: int, end: int) -> None:
        insort(self._gaps, (end - offset, offset))
        self._end_by_offset[offset] = end
        self._offset_by_end[end] = offset

    def _drop_gap(self, offset: int, end: int) -> None:
        del self._gaps[bisect_left(self._gaps, (end - offset, offset))]
        del self._end_by_offset[offset], self._offset_by_end[end]
