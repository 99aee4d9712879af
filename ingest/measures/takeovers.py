"""Takeovers: the bytes that each value takes over from earlier values of its allocation.

An allocation's values with a live range and a size above 0 are ordered by first step, last
step and value id. Each byte that a value takes over has a last occupant earlier in that order.
Slot succession and the physical measures both use these bytes, so they are found once.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from xlagraph.ingest.measures.interval_map import IntervalMap
from xlagraph.ingest.measures.live_ranges import Resident, Residents

__all__ = ["Takeover", "takeovers"]


class Takeover(NamedTuple):
    """Bytes that one value takes over from another; values are indexes in the plan."""

    later: int
    earlier: int
    """Last occupant of the bytes."""
    size_bytes: int
    held_until: int
    """Last step in which any earlier occupant of these bytes is live, inclusive."""


def takeovers(residents: Residents) -> list[Takeover]:
    """Return the takeovers of each value: by allocation, then in the order of the values.

    Algorithm: each value in turn is written into an interval map of the allocation, which
    returns the intervals it replaces: O(n log n), as a value cuts at most two intervals and
    removes those that it covers. (If values shared bytes in more than one step, which XLA
    never does, an interval could outlast the values written over it.)
    """
    taken: list[Takeover] = []
    for inside in residents.values():
        if len(inside) == 1:
            continue
        occupants = [each for each in inside if each[3] < each[4]]
        slots = [each[3:5] for each in occupants]
        if len(set(slots)) <= 1:  # for example updates in place
            taken += _whole_takeovers(occupants)
            continue
        held: IntervalMap[tuple[int, int]] = IntervalMap(slots)
        for _, last, _, start, end, later in occupants:
            for piece_start, piece_end, (earlier, until) in held.assign(start, end, (later, last)):
                taken.append(Takeover(later, earlier, piece_end - piece_start, until))
                if until > last:
                    held.assign(piece_start, piece_end, (later, until))
    return taken


def _whole_takeovers(occupants: Iterable[Resident]) -> Iterator[Takeover]:
    """Yield the takeovers of values in one slot: each takes all of it from the one before."""
    earlier, held_until = None, 0
    for _, last, _, start, end, later in occupants:
        if earlier is not None:
            yield Takeover(later, earlier, end - start, held_until)
        held_until = max(held_until, last)
        earlier = later
