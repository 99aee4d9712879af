"""Slot succession: the bytes that each value takes over, in place or after a gap.

An allocation's values with a live range and a size above 0 are ordered by first step, last
step and value id. Each byte that a value takes over has a last occupant earlier in that order,
and the bytes are grouped by it. The later value updates the earlier one in place if the earlier
one's last step is at or after the later one's first: XLA lets values that share bytes meet in a
step only if their buffers are aliased. Otherwise it reuses the bytes; the gap is the number of
steps from the earlier one's last to the later one's first.

An alias set is a set of values connected by updates in place, in either direction. Its name is
its smallest value id. Positions in it count from 0 in the order above.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, cast

from xlagraph.hlo.buffer_sets import connected_components
from xlagraph.ingest.measures.interval_map import IntervalMap
from xlagraph.ingest.measures.live_ranges import Resident, Residents, Span
from xlagraph.ingest.plan import Plan


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


class Succession(NamedTuple):
    """Takeover of bytes from an earlier value by a later one; values are indexes in the plan."""

    later: int
    earlier: int
    in_place: bool
    shared_bytes: int
    steps: int
    """Step of the update if in place (the later one's first step); else the gap in steps."""


class AliasPosition(NamedTuple):
    """Position of a value among those that share its storage by aliasing."""

    alias_set: int
    """Smallest value id of the set; for an unaliased value, that value's id."""
    position: int


def succession(spans: Sequence[Span | None], taken: Iterable[Takeover]) -> tuple[Succession, ...]:
    """Return the successions by allocation, in the order of the later values.

    `taken` is the result of `takeovers` for the plan.

    Algorithm: one pass over the takeovers, which are grouped by later value: O(n).
    """
    shared: dict[tuple[int, int], int] = {}
    for later, earlier, size_bytes, _ in taken:
        pair = later, earlier
        shared[pair] = shared.get(pair, 0) + size_bytes
    live = cast("Sequence[Span]", spans)  # values in a takeover have a live range
    found = []
    for (later, earlier), shared_bytes in shared.items():
        first, last = live[later].first, live[earlier].last
        in_place = last >= first
        steps = first if in_place else first - last
        found.append(Succession(later, earlier, in_place, shared_bytes, steps))
    return tuple(found)


def alias_positions(
    plan: Plan, spans: Sequence[Span | None], successions: Sequence[Succession]
) -> tuple[AliasPosition, ...]:
    """Return the alias set of each of the plan's values and its position in the set.

    Algorithm: union-find over the updates in place, then each set is sorted: O(n log n).
    """
    ids = [value.value_id for value in plan.values]
    in_place = [(pair.later, pair.earlier) for pair in successions if pair.in_place]
    sets: dict[int, list[tuple[Span, int, int]]] = {}
    for index, smallest in connected_components(chain.from_iterable(in_place), in_place).items():
        if (span := spans[index]) is not None:
            member = span, ids[index], index
            sets.setdefault(smallest, []).append(member)
    positions = [AliasPosition(value_id, 0) for value_id in ids]
    for members in sets.values():
        alias_set = min(value_id for _, value_id, _ in members)
        for position, (_, _, index) in enumerate(sorted(members)):
            positions[index] = AliasPosition(alias_set, position)
    return tuple(positions)
