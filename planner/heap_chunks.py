"""Chunks of a heap, each placed in the best gap.

Follows XLA's `GlobalDecreasingSizeBestFitHeap` (xla/service/heap_simulator/heap_simulator.cc). A
group of values takes the smallest gap that is free while they are live and that is large enough,
the lowest of equal ones; if there is none, it is placed on top. A gap begins at the end of the
chunks below it, rounded up to the alignment.
"""

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from heapq import heappop, heappush

import numpy as np

from xlagraph.planner.combining import rounded_up

Intervals = Sequence[tuple[int, int]]
"""Disjoint intervals in which a group is live, both ends inclusive."""


class Chunks:
    """The chunks placed so far, by offset: one for each interval.

    Arrays can insert in place; numpy compares them.
    """

    def __init__(self, alignment: int, intervals: Sequence[Intervals], *, has_bound: bool) -> None:
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

    def place(self, intervals: Intervals, size_bytes: int) -> int:
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

    def _best_offset(self, intervals: Intervals, size_bytes: int) -> int:
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


class LiveChunks:
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

    def place(self, intervals: Intervals, size_bytes: int) -> int:
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
