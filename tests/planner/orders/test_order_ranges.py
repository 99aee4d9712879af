"""The rules for live ranges are those of the release that wrote the dump."""

import pytest

from tests.planner.small_programs import program, value
from xlagraph.planner.orders.order_ranges import RangeRules
from xlagraph.planner.orders.ordered_program import reordering
from xlagraph.planner.orders.schedulable import (
    SchedulableComputation,
    SchedulableInstruction,
    SchedulableProgram,
    SchedulableValue,
)


@pytest.mark.parametrize(
    ("begins", "rules"), [(2, RangeRules.STANDARD), (3, RangeRules.BEGINS_AT_START)]
)
def test_an_asynchronous_result_is_made_at_its_step_or_at_its_start(begins, rules):
    schedulable = SchedulableProgram(
        (
            SchedulableInstruction("p", "parameter"),
            SchedulableInstruction("q", "parameter"),
            SchedulableInstruction("inner", "fusion", (1,)),
            SchedulableInstruction("start", "fusion-start", (0,), callees=("called",)),
            SchedulableInstruction("done", "async-done", (3,)),
            SchedulableInstruction("out", "negate", (4,)),
        ),
        {
            "called": SchedulableComputation("called", (1, 2), 2),
            "main": SchedulableComputation("main", (0, 3, 4, 5), 5),
        },
        "main",
        (
            SchedulableValue(0, 0, (0, 1), (2, 3), 0, 16, is_kept=True),
            SchedulableValue(1, 2, (2, 3, 4), (4, 5), 1, 16),
            SchedulableValue(2, 5, (5,), (), 2, 16),
        ),
    )
    planned = program(value(0, 0, 6), value(1, begins, 5), value(2, 5, 6))
    found = reordering(planned, schedulable)
    assert (found.is_exact, found.ranges.rules) == (True, rules)
