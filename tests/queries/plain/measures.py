"""Live bytes, peaks, succession and alias sets, by their definitions.

Slow and simple on purpose: bytes are split at every offset of an allocation, and each rule is
a loop over all values.
"""

from collections import defaultdict
from dataclasses import dataclass

from tests.queries.plain.value import PlainValue, Segment


def held_bytes(values: list[PlainValue]) -> dict[int, int]:
    """Count at each step the bytes with a live value; steps without any are omitted."""
    occupied: dict[Segment, set[int]] = defaultdict(set)
    held: dict[int, int] = defaultdict(int)
    for value in values:
        for step in value.steps:
            held[step] += 0  # live, possibly with no bytes
        for segment in value.segments:
            occupied[segment].update(value.steps)
    for (_, first, past), steps in occupied.items():
        for step in steps:
            held[step] += past - first
    return held


def peak_step(held: dict[int, int]) -> int:
    """Return the first step with the most bytes, or step 0 if there are none."""
    return min(held, key=lambda step: (-held[step], step)) if any(held.values()) else 0


def shares_at_peak(values: list[PlainValue], color: int) -> dict[PlainValue, int]:
    """Return the bytes of each value live at the physical peak of a memory space."""
    here = [value for value in values if value.allocation.memory_space == color and value.steps]
    held = held_bytes(here)
    peak = peak_step(held)
    live = sorted((value for value in here if peak in value.steps), key=lambda value: value.place)
    owner = {segment: value for value in live for segment in value.segments}
    shares = dict.fromkeys(live, 0)
    for (_, first, past), value in owner.items():
        shares[value] += past - first
    return shares


@dataclass(frozen=True)
class Takeover:
    """A takeover of bytes that another value had last."""

    earlier: PlainValue
    later: PlainValue
    shared: int

    @property
    def in_place(self) -> bool:
        """True if both are live at the step where the later one begins."""
        return self.earlier.place[1] >= self.later.place[0]


def takeovers(values: list[PlainValue]) -> list[Takeover]:
    """Find the previous value in every byte of every value."""
    ordered = sorted(
        (value for value in values if value.first is not None and value.size > 0),
        key=lambda value: value.place,
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
    """Join values that overwrite one another in place."""
    joined = {value: frozenset([value]) for value in values}
    for takeover in takeovers(values):
        if takeover.in_place:
            both = joined[takeover.earlier] | joined[takeover.later]
            joined |= dict.fromkeys(both, both)
    return joined
