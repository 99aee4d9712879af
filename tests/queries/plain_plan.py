"""A second computation of what queries answer: straight from a plan, by the definitions.

Slow and plain on purpose: bytes are cut at every offset of an allocation, and each rule is
a loop over all values. Shares no code with the ingest beyond the parser.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from xlagraph.ingest.plan import Allocation, Plan

Segment = tuple[int, int, int]
"""Allocation, first byte, byte past the last: nothing begins or ends inside."""


@dataclass(frozen=True, eq=False)
class PlainValue:
    """A value and what the rest of the plan says of it."""

    value_id: int
    label: str
    allocation: Allocation
    offset: int
    size: int
    shape: str
    first: int | None
    last: int | None
    last_use: int | None
    segments: tuple[Segment, ...]

    @property
    def place(self) -> tuple[int, int, int]:
        """Its place in the order (liveFrom, liveUntil, valueId)."""
        assert self.first is not None
        assert self.last is not None
        return (self.first, self.last, self.value_id)

    def is_live(self, step: int) -> bool:
        """Tell whether it has a live range with that step in it."""
        return self.first is not None and self.last is not None and self.first <= step <= self.last


def plain_values(plan: Plan) -> list[PlainValue]:
    """Join the sections of a plan."""
    ranges = {}
    steps = {}
    if plan.live_ranges is not None:
        ranges = {(item.name, item.shape_index): item for item in plan.live_ranges.ranges}
        steps = {name: step for step, name in enumerate(plan.live_ranges.schedule)}
    uses = {item.value_id: item.uses for item in plan.used_values or ()}
    cuts: dict[int, set[int]] = defaultdict(set)
    for value in plan.values:
        cuts[value.allocation] |= {value.offset_bytes, value.offset_bytes + value.size_bytes}
    segments = {
        number: [(number, first, past) for first, past in pairwise(sorted(edges))]
        for number, edges in cuts.items()
    }
    allocations = {item.number: item for item in plan.allocations}
    found = []
    for value in plan.values:
        live = ranges.get((value.name, value.shape_index or "{}"))
        used = [
            steps[use.instruction]
            for use in uses.get(value.value_id, ())
            if use.instruction in steps
        ]
        found.append(
            PlainValue(
                value.value_id,
                value.name + (value.shape_index or ""),
                allocations[value.allocation],
                value.offset_bytes,
                value.size_bytes,
                re.sub(r"(?<=\])\{[^}]*\}", "", value.shape),
                live and live.first_step,
                live and live.last_step,
                max(used, default=None),
                tuple(
                    segment
                    for segment in segments[value.allocation]
                    if value.offset_bytes <= segment[1]
                    and segment[2] <= value.offset_bytes + value.size_bytes
                ),
            )
        )
    return found


def shares_at_peak(values: list[PlainValue], color: int) -> dict[PlainValue, int]:
    """Give each value live at the physical peak of a memory space its own bytes."""
    here = [item for item in values if item.allocation.color == color and item.first is not None]
    if not here:
        return {}
    # Bytes in use only grow where a value begins.
    starts = sorted({item.place[0] for item in here})
    peak = max(starts, key=lambda step: (physical(here, step), -step))
    live = sorted((item for item in here if item.is_live(peak)), key=lambda item: item.place)
    owner = {segment: item for item in live for segment in item.segments}
    shares = dict.fromkeys(live, 0)
    for (_, first, past), item in owner.items():
        shares[item] += past - first
    return shares


def physical(values: list[PlainValue], step: int) -> int:
    """Count the bytes that hold a live value at a step."""
    held = {segment for item in values if item.is_live(step) for segment in item.segments}
    return sum(past - first for _, first, past in held)


@dataclass(frozen=True)
class Takeover:
    """One value has bytes that another one had last."""

    earlier: PlainValue
    later: PlainValue
    shared: int

    @property
    def in_place(self) -> bool:
        """Both are live at the step where the later one begins."""
        return self.earlier.place[1] >= self.later.place[0]


def takeovers(values: list[PlainValue]) -> list[Takeover]:
    """Find the last occupant of every byte of every value."""
    ordered = sorted(
        (item for item in values if item.first is not None and item.size > 0),
        key=lambda item: item.place,
    )
    occupant: dict[Segment, PlainValue] = {}
    found: list[Takeover] = []
    for later in ordered:
        shared: dict[PlainValue, int] = defaultdict(int)
        for segment in later.segments:
            if segment in occupant:
                shared[occupant[segment]] += segment[2] - segment[1]
            occupant[segment] = later
        found += [Takeover(earlier, later, count) for earlier, count in shared.items()]
    return found


def alias_sets(values: list[PlainValue]) -> dict[PlainValue, frozenset[PlainValue]]:
    """Join what overwrites one another in place."""
    joined = {item: frozenset([item]) for item in values}
    for takeover in takeovers(values):
        if takeover.in_place:
            both = joined[takeover.earlier] | joined[takeover.later]
            joined |= dict.fromkeys(both, both)
    return joined
