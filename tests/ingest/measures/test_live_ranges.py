"""Each value has the live range that the dump lists for it."""

import dataclasses

from tests.ingest.measures.small_plans import block, small_plan
from xlagraph.ingest.measures.live_ranges import value_spans
from xlagraph.ingest.plan import LiveRange


def test_values_find_their_range_by_name_and_index():
    plan = small_plan(block(8, ("t", 0, 8), ("t", 0, 8), ("a", 0, 8)), max_step=5)
    root, leaf, array = plan.values
    values = root._replace(shape_index="{}"), leaf._replace(shape_index="{1}"), array
    ranges = (
        LiveRange("t", "{}", 1, 2),
        LiveRange("t", "{1}", 2, 4),
        LiveRange("a", "{}", 0, 5),
    )
    live_ranges = dataclasses.replace(plan.live_ranges, ranges=ranges)
    plan = dataclasses.replace(plan, values=values, live_ranges=live_ranges)
    assert value_spans(plan) == ((1, 2), (2, 4), (0, 5))


def test_a_value_without_a_range_has_no_span():
    plan = small_plan(block(8, ("inside", 0, 8), is_thread_local=True), max_step=5)
    assert value_spans(plan) == (None,)


def test_a_dump_without_live_ranges_has_no_spans():
    assert value_spans(small_plan(block(8, ("a", 0, 8)), max_step=None)) == (None,)
