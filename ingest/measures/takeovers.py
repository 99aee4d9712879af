"""Takeovers: the bytes that each value takes over from earlier values of its allocation.

The values of an allocation with a live range and a size above 0 are ordered by first step, last
step and value id. Each byte that a value takes over has a last occupant earlier in that order.
Slot succession and the physical measures both use these bytes, so they are found once.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xlagraph.ingest.measures.interval_map import IntervalMap
from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.model.plan import Plan

__all__ = ["Takeover", "takeovers"]


class Takeover(NamedTuple):
    """Bytes that one value takes over from another; values are indexes in the plan."""

    later: int
    earlier: int
    """Last occupant of the bytes."""
    size_bytes: int
    held_until: int
    """Last step in which any earlier occupant of these bytes is live, inclusive."""


def takeovers(plan: Plan, spans: Sequence[Span | None]) -> list[Takeover]:
    """Return the takeovers of each value: by allocation, then in the order of the values.

    Algorithm: each value in turn is written into an interval map of the allocation, which
    returns the intervals it replaces: O(n log n), as a value cuts at most two intervals and
    removes those that it covers. (If values shared bytes in more than one step, which XLA
    never does, an interval could outlast the values written over it.)
    """
    occupants: dict[int, list[tuple[int, int, int, int]]] = {}
    for index, (value, span) in enumerate(zip(plan.values, spans, strict=True)):
        if span is not None and value.size_bytes > 0:
            occupants.setdefault(value.allocation, []).append((*span, value.value_id, index))
    taken: list[Takeover] = []
    for ordered in occupants.values():
        if len(ordered) == 1:
            continue
        ordered.sort()
        slots = [
            (value.offset_bytes, value.offset_bytes + value.size_bytes)
            for value in (plan.values[index] for _, _, _, index in ordered)
        ]
        if slots.count(slots[0]) == len(slots):  # for example updates in place
            taken += _whole_takeovers(ordered, slots[0][1] - slots[0][0])
            continue
        held: IntervalMap[tuple[int, int]] = IntervalMap(slots)
        for (_, last, _, later), (start, end) in zip(ordered, slots, strict=True):
            for piece_start, piece_end, (earlier, until) in held.assign(start, end, (later, last)):
                taken.append(Takeover(later, earlier, piece_end - piece_start, until))
                if until > last:
                    held.assign(piece_start, piece_end, (later, until))
    return taken


def _whole_takeovers(
    ordered: Sequence[tuple[int, int, int, int]], size_bytes: int
) -> Iterator[Takeover]:
    """Yield the takeovers of values in one slot: each takes all of it from the one before."""
    (_, held_until, _, earlier), *others = ordered
    for _, last, _, later in others:
        yield Takeover(later, earlier, size_bytes, held_until)
        held_until = max(held_until, last)
        earlier = later
