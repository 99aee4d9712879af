"""Residents of allocations: the values with a live range, each with its slot."""

from collections.abc import Mapping, Sequence

from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.plan import Plan

__all__ = ["Resident", "Residents", "residents_of_allocations"]

# Plain tuples, one for each value: named ones take longer to make.
Resident = tuple[int, int, int, int, int, int]
"""First and last step, value id, start and end of the slot, index of the value in the plan."""
Residents = Mapping[int, Sequence[Resident]]
"""Residents by number of the allocation, each allocation's by first step, last step, value id."""


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
