"""Each live range has the reason for its end."""

from dataclasses import replace

import pytest

from tests.ingest.measures.small_plans import block, small_plan
from xlagraph.ingest.measures.live_ranges import residents_of_allocations, value_spans
from xlagraph.ingest.measures.range_end import range_ends
from xlagraph.ingest.measures.succession import succession, takeovers
from xlagraph.ingest.plan import ParameterStorage

END = 4


def ends(plan, last_uses):
    spans = value_spans(plan)
    followers = succession(spans, takeovers(residents_of_allocations(plan, spans)))
    names = [value.name for value in plan.values]
    uses = [last_uses.get(name) for name in names]
    return dict(zip(names, range_ends(plan, spans, uses, followers), strict=True))


@pytest.mark.parametrize(
    ("last_use", "end"), [(None, "unread"), (2, "lastUse"), (1, "kept"), (3, "handedOn")]
)
def test_a_range_within_the_schedule_ends_by_its_last_reader(last_use, end):
    plan = small_plan(block(16, ("a", 0, 16, (0, 2))), max_step=END)
    assert ends(plan, {"a": last_use}) == {"a": end}


def test_a_value_that_is_updated_in_place_in_its_last_step_is_overwritten():
    plan = small_plan(block(16, ("a", 0, 16, (0, 2)), ("b", 0, 16, (2, 3))), max_step=END)
    assert ends(plan, {"a": 2, "b": 3}) == {"a": "overwritten", "b": "lastUse"}


def test_a_value_that_is_updated_in_place_before_its_last_step_is_not_overwritten():
    plan = small_plan(block(16, ("a", 0, 16, (0, 3)), ("b", 0, 16, (2, 3))), max_step=END)
    assert ends(plan, {"a": 3, "b": 3}) == {"a": "lastUse", "b": "lastUse"}


@pytest.mark.parametrize(
    ("allocation", "end"),
    [
        ({}, "end"),
        ({"is_constant": True}, "constant"),
        ({"parameter": ParameterStorage(0, "f32[4]", None)}, "parameter"),
        ({"maybe_live_out": True}, "output"),
        ({"output_shape": "f32[4]"}, "output"),
        ({"parameter": ParameterStorage(0, "f32[4]", None), "maybe_live_out": True}, "output"),
    ],
)
def test_a_range_to_the_end_of_the_schedule_is_classified_by_its_allocation(allocation, end):
    plan = small_plan(block(16, ("a", 0, 16, (0, END))), max_step=END)
    held_in = plan.allocations[0]._replace(**allocation)
    assert ends(replace(plan, allocations=(held_in,)), {"a": 1}) == {"a": end}


def test_a_value_without_a_live_range_has_no_end():
    plan = small_plan(block(16, ("a", 0, 16)), max_step=END)
    assert ends(plan, {"a": 1}) == {"a": None}
