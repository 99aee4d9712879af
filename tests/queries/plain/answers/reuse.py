"""What the queries of theme reuse must answer."""

from collections import defaultdict
from itertools import pairwise

from tests.queries.plain.answer import Rows, in_order, largest_first
from tests.queries.plain.measures import alias_sets, held_bytes, peak_step, takeovers
from tests.queries.plain.plan import PlainDump
from tests.queries.plain.value import PlainValue, role


@largest_first("sharedBytes", "earlier later allocation sharedBytes freedAt reusedAt gapSteps")
def pairs(dump: PlainDump) -> Rows:
    for one in takeovers(dump.values):
        if not one.in_place:
            labels = one.earlier.label, one.later.label
            freed, reused = one.earlier.place[1], one.later.place[0]
            yield *labels, one.later.allocation.number, one.shared, freed, reused, reused - freed


@in_order("value sharedBytes liveFrom liveUntil inPlace")
def chain(dump: PlainDump, value: str) -> Rows:
    one = dump.value(value)
    if not one.steps:
        return
    joined = alias_sets(dump.values)[one]
    for item in sorted((item for item in dump.values if item.steps), key=lambda item: item.place):
        common = set(item.segments) & set(one.segments)
        if item.place > one.place and any(first < past for _, first, past in common):
            shared = sum(past - first for _, first, past in common)
            yield item.label, shared, item.first, item.last, item in joined


@in_order("value offsetBytes sizeBytes liveFrom liveUntil")
def slot(dump: PlainDump, allocation: int, offset_bytes: int) -> Rows:
    here = [
        item
        for item in dump.values
        if item.allocation.number == allocation
        and item.offset <= offset_bytes < item.offset + item.size
    ]
    for item in sorted(
        here, key=lambda item: item.place if item.steps else (1 << 40, 0, item.value_id)
    ):
        yield item.label, item.offset, item.size, item.first, item.last


@largest_first("sizeBytes", "value sizeBytes")
def never(dump: PlainDump) -> Rows:
    involved = {item for one in takeovers(dump.values) for item in (one.earlier, one.later)}
    for item in dump.values:
        is_temporary = role(item.allocation) == "temp" and item.steps and item.size > 0
        if is_temporary and item not in involved:
            yield item.label, item.size


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
        here = [item for item in dump.values if item.allocation is allocation]
        held = held_bytes(here)
        peak = max(held.values(), default=0)
        step = peak_step(held)
        edges = {0, size}
        taken = [item for item in here if step in item.steps and item.size]
        for item in taken:
            edges |= {item.offset, item.offset + item.size}
        hole = longest = 0
        places = sorted(edges)
        for first, past in pairwise(places):
            covered = any(item.offset <= first < item.offset + item.size for item in taken)
            hole = 0 if covered else hole + past - first
            longest = max(longest, hole)
        yield number, size, peak, size - peak, (size - peak) / size if size else None, longest


@largest_first("totalBytes", "shape values liveAtPeak sizeBytes totalBytes")
def same_shape(dump: PlainDump, memory_space: int) -> Rows:
    shares = dump.shares(memory_space)
    groups: dict[str, list[PlainValue]] = defaultdict(list)
    for item in dump.values:
        is_here = item.allocation.color == memory_space and item.is_array
        if is_here and role(item.allocation) != "threadLocal":
            groups[item.shape].append(item)
    for shape, members in groups.items():
        if len(members) > 1:
            live = [item for item in members if item in shares]
            size = max(item.size for item in members)
            known = dump.end is not None
            yield (
                *(shape, len(members), len(live) if known else None, size),
                sum(item.size for item in live) if known else None,
            )
