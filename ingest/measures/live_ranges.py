"""Steps in which each value is live, and the residents of allocations: values with their slots."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xlagraph.ingest.plan import Plan

# Plain tuples, one for each value: named ones take longer to make.
Resident = tuple[int, int, int, int, int, int]
"""First and last step, value id, start and end of the slot, index of the value in the plan."""
Residents = Mapping[int, Sequence[Resident]]
"""Residents by number of the allocation, each allocation's by first step, last step, value id."""


class Span(NamedTuple):
    """Steps of the schedule in which a value is live, both ends inclusive."""

    first: int
    last: int


def value_spans(plan: Plan) -> tuple[Span | None, ...]:
    """Return the live range of each of the plan's values; None if the dump lists none.

    None is normal for values of thread-local allocations, and in dumps without live ranges.
    Ranges name every value with an index; for arrays it is ``{}``.
    """
    if plan.live_ranges is None:
        return (None,) * len(plan.values)
    ranges = plan.live_ranges.ranges
    find = {
        (each.name, each.shape_index): Span(each.live_from, each.live_until) for each in ranges
    }.get
    return tuple([find((value.name, value.shape_index or "{}")) for value in plan.values])


def residents_of_allocations(plan: Plan, spans: Sequence[Span | None]) -> Residents:
    """Return the residents of each allocation that has one."""
    residents: dict[int, list[Resident]] = {}
    for index, (value, span) in enumerate(zip(plan.values, spans, strict=True)):
        if span is not None:
            first, last = span
            start = value.offset_bytes
            resident = first, last, value.value_id, start, start + value.size_bytes, index
            if (inside := residents.get(value.allocation)) is None:
                residents[value.allocation] = [resident]
            else:
                inside.append(resident)
    for inside in residents.values():
        inside.sort()
    return residents
