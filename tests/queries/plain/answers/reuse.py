"""Expected rows of the queries of theme reuse."""

from collections import defaultdict
from itertools import pairwise

from tests.queries.plain.answer import Rows, in_order, largest_first
from tests.queries.plain.measures import held_bytes, peak_step
from tests.queries.plain.plan import PlainDump
from tests.queries.plain.value import PlainValue, role


@largest_first("sharedBytes", "earlier later allocation sharedBytes freedAt reusedAt gapSteps")
def pairs(dump: PlainDump) -> Rows:
    for one in dump.takeovers:
        if not one.in_place:
            labels = one.earlier.label, one.later.label
            freed, reused = one.earlier.place[1], one.later.place[0]
            yield *labels, one.later.allocation.number, one.shared, freed, reused, reused - freed


@in_order("value sharedBytes liveFrom liveUntil inPlace")
def chain(dump: PlainDump, value: str) -> Rows:
    one = dump.value(value)
    if not one.steps:
        return
    joined = dump.alias_sets[one]
    for other in sorted(
        (other for other in dump.values if other.steps), key=lambda other: other.place
    ):
        common = set(other.segments) & set(one.segments)
        if other.place > one.place and any(first < past for _, first, past in common):
            shared = sum(past - first for _, first, past in common)
            yield other.label, shared, other.first, other.last, other in joined


@in_order("value offsetBytes sizeBytes liveFrom liveUntil")
def slot(dump: PlainDump, allocation: int, offset_bytes: int) -> Rows:
    here = [
        value
        for value in dump.values
        if value.allocation.number == allocation
        and value.offset <= offset_bytes < value.offset + value.size
    ]
    for value in sorted(
        here, key=lambda value: value.place if value.steps else (1 << 40, 0, value.value_id)
    ):
        yield value.label, value.offset, value.size, value.first, value.last


@largest_first("sizeBytes", "value sizeBytes")
def never(dump: PlainDump) -> Rows:
    involved = {value for one in dump.takeovers for value in (one.earlier, one.later)}
    for value in dump.values:
        is_temporary = role(value.allocation) == "temp" and value.steps and value.size > 0
        if is_temporary and value not in involved:
            yield value.label, value.size


@largest_first(
    "unusedBytes", "allocation sizeBytes physicalPeakBytes unusedBytes unusedShare largestHoleBytes"
)
def fragmentation(dump: PlainDump) -> Rows:
    for allocation in dump.plan.allocations:
        if role(allocation) != "temp":
            continue
        number, size = allocation.number, allocation.size_bytes
        if dump.end is None:
            yield number, size, None, None, None, None
            continue
        here = [value for value in dump.values if value.allocation is allocation]
        held = held_bytes(here)
        peak = max(held.values(), default=0)
        step = peak_step(held)
        edges = {0, size}
        taken = [value for value in here if step in value.steps and value.size]
        for value in taken:
            edges |= {value.offset, value.offset + value.size}
        hole = longest = 0
        places = sorted(edges)
        for first, past in pairwise(places):
            covered = any(value.offset <= first < value.offset + value.size for value in taken)
            hole = 0 if covered else hole + past - first
            longest = max(longest, hole)
        yield number, size, peak, size - peak, (size - peak) / size if size else None, longest


@largest_first("totalBytes", "shape values liveAtPeak sizeBytes totalBytes")
def same_shape(dump: PlainDump, memory_space: int) -> Rows:
    shares = dump.shares(memory_space)
    groups: dict[str, list[PlainValue]] = defaultdict(list)
    for value in dump.values:
        is_here = value.allocation.memory_space == memory_space and value.is_array
        if is_here and role(value.allocation) != "threadLocal":
            groups[value.shape].append(value)
    for shape, members in groups.items():
        if len(members) > 1:
            live = [value for value in members if value in shares]
            size = max(value.size for value in members)
            known = dump.end is not None
            yield (
                *(shape, len(members), len(live) if known else None, size),
                sum(value.size for value in live) if known else None,
            )
