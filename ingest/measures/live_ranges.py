"""Steps in which each value is live according to the dump."""

from typing import NamedTuple

from xlagraph.ingest.plan import Plan

__all__ = ["Span", "value_spans"]


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
        (each.name, each.shape_index): Span(each.first_step, each.last_step) for each in ranges
    }.get
    return tuple([find((value.name, value.shape_index or "{}")) for value in plan.values])
