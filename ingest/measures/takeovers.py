"""Which bytes of its allocation each value takes over from which earlier value.

In each allocation the values with a live range and a size above 0 follow each other in
the order (first step, last step, value id). For each, every byte that it takes over had a
last occupant before it in that order. Slot succession and the physical measures both
follow from these bytes, so that they are looked for once.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xlagraph.ingest.measures.interval_map import IntervalMap
from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.model.plan import Plan

__all__ = ["Takeover", "takeovers"]


class Takeover(NamedTuple):
    """Bytes that one value takes over from another; values by their index in the plan."""

    later: int
    earlier: int
    """Their last occupant."""
    size_bytes: int
    held_until: int
    """Last step in which any earlier occupant of these bytes is live, inclusive."""


def takeovers(plan: Plan, spans: Sequence[Span | None]) -> list[Takeover]:
    """Return what each value takes over: by allocation, then in the order of the values.

    Algorithm: in that order each value is written into an interval map of the allocation
    and pushes out what was there: O(n log n), as a value cuts at most two intervals and
    those that it covers are gone. (Where values share bytes in more than one step, which
    XLA never does, an interval can outlast the values written over it.)
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
        if slots.count(slots[0]) == len(slots):  # as where values are updated in place
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
    """Yield what values of one slot take over: all of it, each from the one before it."""
    (_, held_until, _, earlier), *others = ordered
    for _, last, _, later in others:
        yield Takeover(later, earlier, size_bytes, held_until)
        held_until = max(held_until, last)
        earlier = later
