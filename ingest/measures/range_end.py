"""Reason why the live range of each value ends where it does.

The reason is the first one that applies to a value whose live range ends in step s:

- `overwritten`: another value updates it in place in step s;
- `output`, `parameter`, `constant`: s is the schedule's end, and its allocation leaves the
  program, is a parameter, or is a constant; `end` if none of these applies;
- `unread`: no instruction of the schedule reads it;
- `lastUse`, `kept`, `handedOn`: its last reader is at step s, before s, or after s.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from xlagraph.ingest.measures.allocation_roles import Role, role
from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.measures.succession import Succession
from xlagraph.ingest.plan import Allocation, Plan


class RangeEndKind(StrEnum):
    """Reason why a live range ends where it does."""

    OVERWRITTEN = "overwritten"
    OUTPUT = "output"
    PARAMETER = "parameter"
    CONSTANT = "constant"
    END = "end"
    UNREAD = "unread"
    LAST_USE = "lastUse"
    KEPT = "kept"
    HANDED_ON = "handedOn"


def range_ends(
    plan: Plan,
    spans: Sequence[Span | None],
    last_uses: Sequence[int | None],
    successions: Iterable[Succession],
) -> tuple[RangeEndKind | None, ...]:
    """Return why the live range of each of the plan's values ends; None if it has none."""
    end = len(plan.live_ranges.schedule) if plan.live_ranges is not None else None
    allocations = {allocation.number: allocation for allocation in plan.allocations}
    found = [
        None if span is None else _within_schedule(span.last, last_use)
        for span, last_use in zip(spans, last_uses, strict=True)
    ]
    for index, (value, span) in enumerate(zip(plan.values, spans, strict=True)):
        if span is not None and span.last == end:
            found[index] = _at_end(allocations[value.allocation])
    for pair in successions:
        if pair.in_place and (span := spans[pair.earlier]) is not None and span.last == pair.steps:
            found[pair.earlier] = RangeEndKind.OVERWRITTEN
    return tuple(found)


def _at_end(allocation: Allocation) -> RangeEndKind:
    """Return why a value in this allocation lives to the schedule's end."""
    own_role = role(allocation)
    if own_role is Role.OUTPUT or allocation.maybe_live_out:
        return RangeEndKind.OUTPUT
    if allocation.parameter is not None:
        return RangeEndKind.PARAMETER
    return RangeEndKind.CONSTANT if own_role is Role.CONSTANT else RangeEndKind.END


def _within_schedule(last: int, last_use: int | None) -> RangeEndKind:
    if last_use is None:
        return RangeEndKind.UNREAD
    if last_use == last:
        return RangeEndKind.LAST_USE
    return RangeEndKind.KEPT if last_use < last else RangeEndKind.HANDED_ON
