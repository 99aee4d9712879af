"""Programs of a few values, written by hand."""

from xlagraph.planner.planned_program import PlannedAllocation, PlannedProgram, PlannedValue


def value(value_id, first, last, size=16, **facts):
    given = {"memory_space": 0, "buffer_set": value_id, "post_order": value_id}
    given |= {"allocation": 9, "offset_bytes": 0} | facts
    return PlannedValue(value_id, size, live_from=first, live_until=last, **given)


def program(*values, allocations=(), overwrites=None, given=None):
    if not any(allocation.role == "temp" for allocation in allocations):
        allocations = (*allocations, PlannedAllocation(9, 0, "temp", 0))
    return PlannedProgram(values, tuple(allocations), overwrites or {}, (16,), given or {})
