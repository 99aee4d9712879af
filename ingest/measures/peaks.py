"""Peaks: the step with most live bytes, logical and physical, and the values live then.

Logical bytes at a step are the sum of the assigned sizes of the live values of a memory space;
both sides of an update in place count. Physical bytes at a step are the bytes in use: the size
of the union of the byte ranges of the live values of each allocation, summed over the memory
space. Only values with a live range count, and a value belongs to the memory space of its
allocation. A peak is the maximum over the steps 0 … max, both inclusive; the first of equal
steps. It is 0 if nothing is live, None in a dump without live ranges.

At the physical peak, bytes that several live values share count for the last of them in the
order (first step, last step, value id), so the shares add up to the peak.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, repeat
from typing import NamedTuple, cast

from xlagraph.ingest.measures.interval_map import largest_hole, owned_bytes
from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.measures.takeovers import Takeover
from xlagraph.ingest.model.plan import Allocation, Plan

__all__ = ["AllocationPeak", "Peak", "Peaks", "SpacePeaks", "peaks"]


class Peak(NamedTuple):
    """Largest number of bytes live in one step, and the first step with that many."""

    bytes: int | None
    step: int | None


class SpacePeaks(NamedTuple):
    """Sums and peaks of one memory space."""

    color: int
    allocation_bytes: int
    reserved_bytes: int
    """Size of the allocations that are not thread-local."""
    logical: Peak
    physical: Peak
    shares: tuple[tuple[int, int], ...]
    """Index in the plan of every value live at the physical peak, and the bytes it accounts for."""


class AllocationPeak(NamedTuple):
    """Physical peak of one allocation, and its largest hole at that step."""

    physical: Peak
    largest_hole_bytes: int | None
    """Longest run of bytes without a live value at that step."""


@dataclass(frozen=True, slots=True)
class Peaks:
    """All peaks of a plan."""

    spaces: tuple[SpacePeaks, ...]
    """Peaks of each memory space that has allocations, by ascending color."""
    allocations: tuple[AllocationPeak, ...]
    """Peak of each allocation of the plan, in its order."""
    logical_by_step: Sequence[int] | None
    """Logical bytes of memory space 0 at each step of the schedule."""
    physical_by_step: Sequence[int] | None
    """Physical bytes of memory space 0 at each step of the schedule."""


# Plain tuples, one for each value: named ones take a microsecond longer to make.
_Resident = tuple[int, int, int, int, int, int]
"""First and last step, value id, start and end of the slot, index of the value in the plan."""
_Held = tuple[int, int, int]
"""First and last step in which bytes are in use, both inclusive, and how many bytes."""
_Changes = defaultdict[int, int]
"""Change of a sum in bytes at a step, relative to the step before."""


def peaks(plan: Plan, spans: Sequence[Span | None], taken: Iterable[Takeover]) -> Peaks:
    """Return the peaks of all memory spaces and allocations.

    `taken` is the result of `takeovers` for the same plan.

    Algorithm: each value adds its size at its first step and subtracts it after its last. The
    physical sum leaves out bytes that earlier occupants still use. Running sums over the
    steps give the peaks; one more pass finds the values live at each peak: O(n log n).
    """
    by_color: dict[int, list[Allocation]] = defaultdict(list)
    for allocation in plan.allocations:
        by_color[allocation.color].append(allocation)
    if plan.live_ranges is None:
        return _unknown_peaks(plan, by_color)
    max_step = plan.live_ranges.max_step
    residents = _residents(plan, spans)
    held_twice = _held_twice(plan, spans, taken)
    peak_of: dict[int, AllocationPeak] = {}
    spaces = []
    by_step: list[Sequence[int]] = [[0] * max_step] * 2
    for color in sorted(by_color):
        logical: _Changes = defaultdict(int)
        hidden: list[_Held] = []
        for allocation in by_color[color]:
            inside = residents[allocation.number]
            held = [(first, last, end - start) for first, last, _, start, end, _ in inside]
            twice = held_twice[allocation.number]
            _add(logical, held)
            hidden += twice
            peak_of[allocation.number] = _allocation_peak(
                allocation, inside, held + twice, max_step
            )
        physical = _add(logical.copy(), hidden)
        peak = _peak(physical, max_step)
        shares = chain.from_iterable(
            _shares(residents[allocation.number], peak) for allocation in by_color[color]
        )
        logical_peak = _peak(logical, max_step)
        spaces.append(_space(color, by_color[color], logical_peak, peak, tuple(shares)))
        if color == 0:
            by_step = [_sums(changes, range(max_step)) for changes in (logical, physical)]
    return Peaks(tuple(spaces), tuple(peak_of[each.number] for each in plan.allocations), *by_step)


def _unknown_peaks(plan: Plan, by_color: Mapping[int, Sequence[Allocation]]) -> Peaks:
    unknown = Peak(None, None)
    spaces = (_space(color, by_color[color], unknown, unknown, ()) for color in sorted(by_color))
    none_known = (AllocationPeak(unknown, None),) * len(plan.allocations)
    return Peaks(tuple(spaces), none_known, None, None)


def _space(
    color: int,
    allocations: Sequence[Allocation],
    logical: Peak,
    physical: Peak,
    shares: tuple[tuple[int, int], ...],
) -> SpacePeaks:
    return SpacePeaks(
        color,
        sum(each.size_bytes for each in allocations),
        sum(each.size_bytes for each in allocations if not each.is_thread_local),
        logical,
        physical,
        shares,
    )


def _residents(plan: Plan, spans: Sequence[Span | None]) -> dict[int, list[_Resident]]:
    """Return the values that have a live range, by allocation."""
    residents: dict[int, list[_Resident]] = defaultdict(list)
    for index, (value, span) in enumerate(zip(plan.values, spans, strict=True)):
        if span is not None:
            start = value.offset_bytes
            slot = start, start + value.size_bytes
            residents[value.allocation].append((*span, value.value_id, *slot, index))
    return residents


def _held_twice(
    plan: Plan, spans: Sequence[Span | None], taken: Iterable[Takeover]
) -> dict[int, list[_Held]]:
    """Return the bytes that are counted twice, by allocation, as negative numbers.

    A byte counts for a value only after all its earlier occupants have ended.
    """
    live = cast("Sequence[Span]", spans)  # values in a takeover have a live range
    twice: dict[int, list[_Held]] = defaultdict(list)
    for later, _, size_bytes, held_until in taken:
        first, last = live[later]
        if held_until >= first:
            hidden = first, min(held_until, last), -size_bytes
            twice[plan.values[later].allocation].append(hidden)
    return twice


def _add(changes: _Changes, held: Iterable[_Held]) -> _Changes:
    for first, last, size_bytes in held:
        changes[first] += size_bytes
        changes[last + 1] -= size_bytes
    return changes


def _sums(changes: _Changes, steps: Iterable[int]) -> list[int]:
    return list(accumulate(map(changes.get, steps, repeat(0))))


def _allocation_peak(
    allocation: Allocation, inside: Sequence[_Resident], held: Sequence[_Held], max_step: int
) -> AllocationPeak:
    if len({resident[3:5] for resident in inside}) <= 1:
        return _peak_of_one_slot(allocation, inside)
    peak = _peak(_add(defaultdict(int), held), max_step)
    slots = [(start, end) for _, _, _, start, end, _ in _live(inside, peak)]
    return AllocationPeak(peak, largest_hole(slots, allocation.size_bytes))


def _peak_of_one_slot(allocation: Allocation, inside: Sequence[_Resident]) -> AllocationPeak:
    """Return the peak of an allocation whose residents, if any, all have one slot."""
    first, _, _, start, end, _ = min(inside, default=(0, 0, 0, 0, 0, 0))
    if start == end:
        return AllocationPeak(Peak(0, 0), allocation.size_bytes)
    hole = max(start, allocation.size_bytes - end)
    return AllocationPeak(Peak(end - start, first), hole)


def _shares(inside: Iterable[_Resident], peak: Peak) -> Iterable[tuple[int, int]]:
    """Return the index of each resident live at a peak, and the bytes it accounts for."""
    live = sorted(_live(inside, peak))  # by first step, last step, value id
    owned = owned_bytes([(start, end) for _, _, _, start, end, _ in live])
    return zip([index for *_, index in live], owned, strict=True)


def _peak(changes: _Changes, max_step: int) -> Peak:
    # Sums differ only at steps with a change. If that is nearly every step, visiting all
    # steps is cheaper than sorting those.
    dense = 4 * len(changes) > max_step
    steps: Sequence[int] = range(max_step + 1) if dense else sorted(changes)
    sums = _sums(changes, steps)
    most = max(sums, default=0)
    return Peak(most, steps[sums.index(most)]) if most else Peak(0, 0)


def _live(residents: Iterable[_Resident], peak: Peak) -> list[_Resident]:
    step = peak.step or 0
    return [resident for resident in residents if resident[0] <= step <= resident[1]]
