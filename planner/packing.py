"""Best-fit packing of a heap: an offset for each group of values that share bytes.

Follows XLA's `GlobalDecreasingSizeBestFitHeap` and `ChooseBestHeapAlgorithm` (xla/service/
heap_simulator/heap_simulator.cc). Groups are placed one after another in the order of the
strategy, at offsets that `heap_chunks` finds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import chain
from math import gcd
from typing import Final

import numpy as np

from xlagraph.planner.heap import Group, live_bytes_by_step, merged
from xlagraph.planner.heap_chunks import Chunks, Intervals, LiveChunks


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
    ) -> "tuple[Chunks | LiveChunks, Sequence[Intervals]]":
        if order is Order.START:
            return LiveChunks(alignment, has_bound=has_bound), self._spans
        return Chunks(alignment, self._ranks, has_bound=has_bound), self._ranks

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
    def _ticks(self) -> list[Intervals]:
        """Intervals of each group, in ticks."""
        return [merged(group.ticks) for group in self._groups]

    @cached_property
    def _spans(self) -> list[Intervals]:
        """The ticks from the first to the last of each group, as one interval."""
        return [[(each.ticks[0][0], max(last for _, last in each.ticks))] for each in self._groups]

    @cached_property
    def _ranks(self) -> list[Intervals]:
        """Intervals of each group, in ranks: the number of intervals that end before a tick.

        Ranks overlap as ticks do, and most programs need no more than two bytes for one.
        """
        # `np.unique` would import much
        ends = np.array(sorted({last for intervals in self._ticks for _, last in intervals}))
        ranks = iter(ends.searchsorted(list(chain.from_iterable(chain(*self._ticks)))).tolist())
        return [[(next(ranks), next(ranks)) for _ in intervals] for intervals in self._ticks]
