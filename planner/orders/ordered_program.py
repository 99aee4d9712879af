"""A planned program whose instructions run in another order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xlagraph.planner.orders.order_ranges import FlatSchedule, RangeRules, Ranges, flat_schedule
from xlagraph.planner.orders.schedulable import Order, SchedulableProgram
from xlagraph.planner.planned_program import PlannedProgram


@dataclass(frozen=True)
class Reordering:
    """Makes the planned program of any order."""

    planned: PlannedProgram
    """The program as XLA planned it."""
    schedulable: SchedulableProgram
    ranges: Ranges
    is_exact: bool
    """True if the live ranges of the present order are computed exactly."""

    def flat(self, order: Order) -> FlatSchedule:
        """Return the flat schedule of an order."""
        return flat_schedule(self.schedulable, order)

    def program(self, schedule: FlatSchedule) -> PlannedProgram:
        """Return the planned program if the instructions run in this order."""
        firsts, lasts = self.ranges.of(schedule)
        found = dict(
            zip(
                [value.value_id for value in self.schedulable.values],
                zip(firsts.tolist(), lasts.tolist(), strict=True),
                strict=True,
            )
        )
        values = []
        for value in self.planned.values:
            first, last = found.get(value.value_id, (value.live_from, value.live_until))
            is_same = (first, last) == (value.live_from, value.live_until)
            values.append(value if is_same else value._replace(live_from=first, live_until=last))
        return replace(self.planned, values=tuple(values))


def reordering(planned: PlannedProgram, schedulable: SchedulableProgram) -> Reordering:
    """Choose the rules for live ranges that reproduce those of the dump."""
    present = flat_schedule(schedulable, schedulable.present_order)
    known = {value.value_id: (value.live_from, value.live_until) for value in planned.values}
    expected = [known.get(value.value_id) for value in schedulable.values]
    best, count = None, 0
    for rules in RangeRules:
        ranges = Ranges(schedulable, rules)
        unequal = _unequal(ranges, present, expected)
        if best is None or unequal < count:
            best, count = ranges, unequal
        if not count:
            break
    assert best is not None  # noqa: S101 - there are rules
    return Reordering(planned, schedulable, best, is_exact=count == 0)


def _unequal(
    ranges: Ranges, present: FlatSchedule, expected: Sequence[tuple[int, int] | None]
) -> int:
    """Return the number of live ranges that differ from the dump's."""
    firsts, lasts = ranges.of(present)
    found = zip(firsts.tolist(), lasts.tolist(), strict=True)
    return sum(
        wanted is not None and wanted != each for wanted, each in zip(expected, found, strict=True)
    )
