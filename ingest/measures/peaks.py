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

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, repeat
from typing import Final, NamedTuple, cast

from xlagraph.hlo.grouping import grouped
from xlagraph.ingest.measures.interval_map import largest_hole, owned_bytes
from xlagraph.ingest.measures.live_ranges import Resident, Residents, Span
from xlagraph.ingest.measures.succession import Takeover
from xlagraph.ingest.plan import Allocation, Plan


class PrintedShare(NamedTuple):
    """A value in XLA's list."""

    value: int
    """Index into ``plan.values``."""
    rank: int
    """Index in the list, from 0."""
    bytes: int
    """Bytes as printed; before jaxlib 0.6 often those of the whole tuple."""
    ambiguous: bool
    """True if the list names a tuple, so that its element is a guess."""


def printed_shares(plan: Plan, spans: Sequence[Span | None]) -> tuple[PrintedShare, ...]:
    """Return the value of each line of the printed peak, in the order of the list.

    A line with an index names its value. Before jaxlib 0.6 lines have no index, and a tuple is
    named once for each live element. The k-th mention of a name is then taken for the k-th
    value of that name that is live at the printed step, by value id. A line without a
    matching value is omitted.
    """
    if plan.live_ranges is None or plan.live_ranges.peak is None:
        return ()
    peak = plan.live_ranges.peak
    mentioned = {entry.name for entry in peak.entries}
    values = [
        (value.value_id, value.name, value.shape_index, index)
        for index, value in enumerate(plan.values)
        if value.name in mentioned
    ]
    by_position = {(name, shape_index or "{}"): index for _, name, shape_index, index in values}
    live: dict[str, deque[int]] = defaultdict(deque)
    if any(entry.shape_index is None for entry in peak.entries):
        for _, name, _, index in sorted(values):
            span = spans[index]
            if span is not None and span.first <= peak.step <= span.last:
                live[name].append(index)

    shares = []
    for rank, (name, shape_index, size_bytes, _) in enumerate(peak.entries):
        found: int | None
        if shape_index is not None:
            found = by_position.get((name, shape_index))
            ambiguous = False
        else:
            found = live[name].popleft() if live[name] else None
            ambiguous = found is not None and plan.values[found].shape_index is not None
        if found is not None:
            shares.append(PrintedShare(found, rank, size_bytes, ambiguous))
    return tuple(shares)


class Peak(NamedTuple):
    """Largest number of bytes live in one step, and the first step with that many."""

    bytes: int | None
    step: int | None


NO_PEAK: Final = Peak(0, 0)
"""Peak of a memory space in which nothing is live."""
UNKNOWN_PEAK: Final = Peak(None, None)
"""Peak in a dump without live ranges."""


class SpacePeaks(NamedTuple):
    """Sums and peaks of one memory space."""

    memory_space: int
    allocation_bytes: int
    reserved_bytes: int
    """Size of the allocations that are not thread-local."""
    logical: Peak
    physical: Peak
    shares: tuple[tuple[int, int], ...]
    """Index in the plan of each value live at the physical peak, and its bytes of the peak."""


class AllocationPeak(NamedTuple):
    """Physical peak of one allocation, and its largest hole at that step."""

    physical: Peak
    largest_hole_bytes: int | None
    """Longest run of bytes without a live value at that step."""


@dataclass(frozen=True, slots=True)
class Peaks:
    """All peaks of a plan."""

    spaces: tuple[SpacePeaks, ...]
    """Peaks of each memory space that has allocations, in ascending order."""
    allocations: tuple[AllocationPeak, ...]
    """Peak of each allocation of the plan, in its order."""
    logical_by_step: Sequence[int] | None
    """Logical bytes of memory space 0 at each step of the schedule."""
    physical_by_step: Sequence[int] | None
    """Physical bytes of memory space 0 at each step of the schedule."""


_Held = tuple[int, int, int]
"""First and last step in which bytes are in use, both inclusive, and how many bytes."""
_Changes = defaultdict[int, int]
"""Change of a sum in bytes at a step, relative to the step before."""


def peaks(
    plan: Plan, spans: Sequence[Span | None], residents: Residents, taken: Iterable[Takeover]
) -> Peaks:
    """Return the peaks of all memory spaces and allocations.

    `residents` and `taken` are those of the same plan.

    Algorithm: each value adds its size at its first step and subtracts it after its last. The
    physical sum leaves out bytes that earlier occupants still use. Running sums over the
    steps give the peaks; one more pass finds the values live at each peak: O(n log n).
    """
    by_space = grouped((allocation.memory_space, allocation) for allocation in plan.allocations)
    if plan.live_ranges is None:
        return _unknown_peaks(plan, by_space)
    max_step = plan.live_ranges.max_step
    held_twice = _held_twice(plan, spans, taken)
    spaces = []
    by_step: list[Sequence[int]] = [[0] * max_step] * 2
    for memory_space, allocations in sorted(by_space.items()):
        occupied = [each.number for each in allocations if each.number in residents]
        inside = [residents[number] for number in occupied]
        hidden = chain.from_iterable([held_twice.get(number, ()) for number in occupied])
        logical = _changes(chain.from_iterable(inside))
        sums = [
            _Sums(changes, max_step, at_all_steps=memory_space == 0)
            for changes in (logical, _add(logical.copy(), hidden))
        ]
        logical_peak, physical_peak = (each.peak for each in sums)
        shares = _shares(inside, physical_peak)
        spaces.append(_space(memory_space, allocations, logical_peak, physical_peak, shares))
        if memory_space == 0:
            by_step = [each.sums[:max_step] for each in sums]
    allocation_peaks = [
        _allocation_peak(each, residents[each.number], held_twice.get(each.number, ()), max_step)
        if each.number in residents
        else AllocationPeak(NO_PEAK, each.size_bytes)
        for each in plan.allocations
    ]
    return Peaks(tuple(spaces), tuple(allocation_peaks), *by_step)


def _unknown_peaks(plan: Plan, by_space: Mapping[int, Sequence[Allocation]]) -> Peaks:
    spaces = (
        _space(memory_space, by_space[memory_space], UNKNOWN_PEAK, UNKNOWN_PEAK, ())
        for memory_space in sorted(by_space)
    )
    none_known = (AllocationPeak(UNKNOWN_PEAK, None),) * len(plan.allocations)
    return Peaks(tuple(spaces), none_known, None, None)


def _space(
    memory_space: int,
    allocations: Sequence[Allocation],
    logical: Peak,
    physical: Peak,
    shares: tuple[tuple[int, int], ...],
) -> SpacePeaks:
    return SpacePeaks(
        memory_space,
        sum([each.size_bytes for each in allocations]),
        sum([each.size_bytes for each in allocations if not each.is_thread_local]),
        logical,
        physical,
        shares,
    )


def _held_twice(
    plan: Plan, spans: Sequence[Span | None], taken: Iterable[Takeover]
) -> dict[int, list[_Held]]:
    """Return the bytes that are counted twice, by allocation, as negative numbers.

    A byte counts for a value only after all its earlier occupants have ended.
    """
    live = cast("Sequence[Span]", spans)  # values in a takeover have a live range
    twice: dict[int, list[_Held]] = {}
    for later, _, size_bytes, held_until in taken:
        first, last = live[later]
        if held_until >= first:
            hidden = first, min(held_until, last), -size_bytes
            twice.setdefault(plan.values[later].allocation, []).append(hidden)
    return twice


def _changes(inside: Iterable[Resident]) -> _Changes:
    changes: _Changes = defaultdict(int)
    for first, last, _, start, end, _ in inside:
        changes[first] += end - start
        changes[last + 1] -= end - start
    return changes


def _add(changes: _Changes, held: Iterable[_Held]) -> _Changes:
    for first, last, size_bytes in held:
        changes[first] += size_bytes
        changes[last + 1] -= size_bytes
    return changes


class _Sums:
    """Running sums of changes at the steps where they can differ, or at all steps."""

    def __init__(self, changes: _Changes, max_step: int, *, at_all_steps: bool) -> None:
        # If nearly every step has a change, visiting all steps is cheaper than sorting those.
        if at_all_steps or 4 * len(changes) > max_step:
            self.steps: Sequence[int] = range(max_step + 1)
        else:
            self.steps = sorted(changes)
        self.sums = list(accumulate(map(changes.get, self.steps, repeat(0))))

    @property
    def peak(self) -> Peak:
        """Largest sum, and the first step with it."""
        most = max(self.sums, default=0)
        return Peak(most, self.steps[self.sums.index(most)]) if most else NO_PEAK


def _allocation_peak(
    allocation: Allocation, inside: Sequence[Resident], twice: Iterable[_Held], max_step: int
) -> AllocationPeak:
    """Return an allocation's peak with residents, and its largest hole."""
    size_bytes = allocation.size_bytes
    if len(inside) == 1 or len(set(_slots(inside))) == 1:
        first, _, _, start, end, _ = inside[0]
        if start == end:
            return AllocationPeak(NO_PEAK, size_bytes)
        hole_bytes = max(start, size_bytes - end)
        return AllocationPeak(Peak(end - start, first), hole_bytes)
    changes = _add(_changes(inside), twice)
    peak = _Sums(changes, max_step, at_all_steps=False).peak
    return AllocationPeak(peak, largest_hole(_slots(_live(inside, peak)), size_bytes))


def _shares(inside: Iterable[Sequence[Resident]], peak: Peak) -> tuple[tuple[int, int], ...]:
    """Return the index of each resident live at a peak, and the bytes it accounts for.

    The residents are grouped by allocation.
    """
    shares: list[tuple[int, int]] = []
    for residents in inside:
        live = _live(residents, peak)
        if len(live) == 1:
            _, _, _, start, end, index = live[0]
            shares.append((index, end - start))
        elif live:
            shares += zip([each[5] for each in live], owned_bytes(_slots(live)), strict=True)
    return tuple(shares)


def _live(inside: Iterable[Resident], peak: Peak) -> list[Resident]:
    step = peak.step or 0
    return [resident for resident in inside if resident[0] <= step <= resident[1]]


def _slots(residents: Iterable[Resident]) -> list[tuple[int, int]]:
    return [resident[3:5] for resident in residents]
