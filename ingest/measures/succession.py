"""Slot succession: whose bytes each value takes over, in place or after a pause.

In each allocation take the values with a live range and a size above 0 in the order
(first step, last step, value id). For each, every byte that it takes over had a last
occupant before it in that order. Group those bytes by last occupant. If the earlier one's
last step is at or after the later one's first, the later updates the earlier in place
(XLA makes values that share bytes touch in a step only where buffers are aliased); else it
reuses the bytes, after a gap of as many steps as lie from the earlier one's last to the
later one's first.

An alias set is the values joined by updates in place, whatever their direction. It is
named after its smallest value id; a position in it is counted from 0 in the order above.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple, cast

from xlagraph.ingest.hlo.buffer_sets import connected_components
from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.measures.takeovers import Takeover
from xlagraph.ingest.model.plan import Plan

__all__ = ["AliasPosition", "Succession", "alias_positions", "succession"]


class Succession(NamedTuple):
    """One value takes bytes over from another; values by their index in the plan."""

    later: int
    earlier: int
    in_place: bool
    shared_bytes: int
    steps: int
    """In place: the step of the update, the later one's first. Else the gap in steps."""


class AliasPosition(NamedTuple):
    """Where a value stands among those that share its storage by aliasing."""

    alias_set: int
    """Smallest value id of the set; of an unaliased value its own id."""
    position: int


def succession(spans: Sequence[Span | None], taken: Iterable[Takeover]) -> tuple[Succession, ...]:
    """Return who takes bytes over from whom: by allocation, in the order of the later values.

    `taken` is what `takeovers` returns for the plan.

    Algorithm: one pass over the takeovers, which stand together for each later value: O(n).
    """
    shared: dict[tuple[int, int], int] = {}
    for later, earlier, size_bytes, _ in taken:
        pair = later, earlier
        shared[pair] = shared.get(pair, 0) + size_bytes
    live = cast("Sequence[Span]", spans)  # takeovers are between values that have a range
    found: list[Succession] = []
    for (later, earlier), shared_bytes in shared.items():
        begins, ended = live[later], live[earlier]
        in_place = ended.last >= begins.first
        steps = begins.first if in_place else begins.first - ended.last
        found.append(Succession(later, earlier, in_place, shared_bytes, steps))
    return tuple(found)


def alias_positions(
    plan: Plan, spans: Sequence[Span | None], successions: Sequence[Succession]
) -> tuple[AliasPosition, ...]:
    """Return the alias set of each of the plan's values and its position there.

    Algorithm: union-find over the updates in place, then each set is sorted: O(n log n).
    """
    in_place = [(pair.later, pair.earlier) for pair in successions if pair.in_place]
    sets: dict[int, list[tuple[Span, int, int]]] = {}
    for index, smallest in connected_components(chain.from_iterable(in_place), in_place).items():
        if (span := spans[index]) is not None:
            member = span, plan.values[index].value_id, index
            sets.setdefault(smallest, []).append(member)
    positions = [AliasPosition(value.value_id, 0) for value in plan.values]
    for members in sets.values():
        alias_set = min(value_id for _, value_id, _ in members)
        for position, (_, _, index) in enumerate(sorted(members)):
            positions[index] = AliasPosition(alias_set, position)
    return tuple(positions)
