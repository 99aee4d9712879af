"""Logical and physical peaks follow their definitions."""

import dataclasses

from hypothesis import given

from tests.ingest.measures.small_plans import block, plans, small_plan
from xlagraph.ingest.measures.live_ranges import residents_of_allocations, value_spans
from xlagraph.ingest.measures.peaks import AllocationPeak, Peak, peaks
from xlagraph.ingest.measures.succession import takeovers


def peaks_of(plan):
    spans = value_spans(plan)
    residents = residents_of_allocations(plan, spans)
    return peaks(plan, spans, residents, takeovers(residents))


def only_space(plan):
    (space,) = peaks_of(plan).spaces
    return space


def shares(plan, space):
    return {plan.values[place].name: own for place, own in space.shares}


def test_both_sides_of_an_update_in_place_count_logically_and_once_physically():
    plan = small_plan(
        block(16, ("before", 0, 16, (0, 2)), ("after", 0, 16, (2, 4))),
        max_step=4,
    )
    space = only_space(plan)
    assert space.logical == Peak(32, 2)
    assert space.physical == Peak(16, 0)
    assert peaks_of(plan).logical_by_step == [16, 16, 32, 16]
    assert peaks_of(plan).physical_by_step == [16, 16, 16, 16]


def test_shared_bytes_belong_to_the_value_that_comes_later():
    plan = small_plan(
        block(24, ("before", 0, 16, (0, 2)), ("after", 8, 16, (2, 4))),
        max_step=4,
    )
    space = only_space(plan)
    assert space.physical == Peak(24, 2)
    assert shares(plan, space) == {"before": 8, "after": 16}


def test_of_equal_ranges_the_larger_value_id_comes_later():
    plan = small_plan(
        block(8, ("second", 0, 8, (0, 1), 7), ("first", 0, 8, (0, 1), 3)),
        max_step=2,
    )
    assert shares(plan, only_space(plan)) == {"first": 0, "second": 8}


def test_values_side_by_side_add_up():
    plan = small_plan(
        block(64, ("low", 0, 8, (0, 3)), ("high", 32, 16, (1, 2))),
        max_step=4,
    )
    space = only_space(plan)
    assert space.logical == space.physical == Peak(24, 1)
    assert peaks_of(plan).allocations == (AllocationPeak(Peak(24, 1), 24),)


def test_values_of_size_zero_share_the_peak_with_no_bytes():
    plan = small_plan(
        block(8, ("empty", 8, 0, (0, 2)), ("full", 0, 8, (1, 1))),
        max_step=2,
    )
    space = only_space(plan)
    assert space.physical == Peak(8, 1)
    assert shares(plan, space) == {"empty": 0, "full": 8}


def test_if_only_values_of_size_zero_are_live_the_peak_is_zero_at_the_first_step():
    plan = small_plan(block(4, ("empty", 0, 0, (2, 3))), max_step=4)
    space = only_space(plan)
    assert space.logical == space.physical == Peak(0, 0)
    assert space.shares == ()
    assert peaks_of(plan).allocations == (AllocationPeak(Peak(0, 0), 4),)


def test_thread_local_allocations_are_allocated_but_not_reserved():
    plan = small_plan(
        block(8, ("argument", 0, 8, (0, 1))),
        block(100, ("inside", 0, 100), is_thread_local=True),
        max_step=1,
    )
    space = only_space(plan)
    assert (space.allocation_bytes, space.reserved_bytes) == (108, 8)
    assert space.logical == Peak(8, 0)
    assert peaks_of(plan).allocations[1] == AllocationPeak(Peak(0, 0), 100)


def test_each_memory_space_has_its_own_peak():
    plan = small_plan(
        block(8, ("here", 0, 8, (0, 1)), color=1),
        block(4, ("there", 0, 4, (3, 3))),
        block(2, ("here.too", 0, 2, (1, 2)), color=1),
        max_step=4,
    )
    zero, one = peaks_of(plan).spaces
    assert (zero.memory_space, zero.logical, zero.physical) == (0, Peak(4, 3), Peak(4, 3))
    assert (one.memory_space, one.logical, one.physical) == (1, Peak(10, 1), Peak(10, 1))
    assert peaks_of(plan).logical_by_step == [0, 0, 0, 4]


def test_a_value_belongs_to_the_memory_space_of_its_allocation():
    plan = small_plan(block(8, ("moved", 0, 8, (0, 0))), max_step=1)
    elsewhere = dataclasses.replace(plan, values=(plan.values[0]._replace(memory_space=5),))
    space = only_space(elsewhere)
    assert (space.memory_space, space.logical) == (0, Peak(8, 0))


def test_of_equal_steps_the_first_is_the_peak():
    plan = small_plan(
        block(8, ("early", 0, 8, (1, 1))), block(8, ("late", 0, 8, (3, 3))), max_step=5
    )
    assert only_space(plan).logical == only_space(plan).physical == Peak(8, 1)


def test_the_step_past_the_last_instruction_can_be_the_peak():
    plan = small_plan(
        block(8, ("result", 0, 8, (1, 2))), block(1, ("never.read", 0, 1, (2, 2))), max_step=2
    )
    assert only_space(plan).logical == Peak(9, 2)
    assert peaks_of(plan).logical_by_step == [0, 8]


def test_the_largest_hole_is_before_between_or_after_live_values():
    def largest_hole(*values):
        return peaks_of(small_plan(block(100, *values), max_step=1)).allocations[0][1]

    assert largest_hole(("a", 60, 40, (0, 0))) == 60
    assert largest_hole(("a", 0, 10, (0, 0)), ("b", 90, 10, (0, 0))) == 80
    assert largest_hole(("a", 0, 10, (0, 0))) == 90
    assert largest_hole(("a", 0, 100, (0, 0)), ("b", 0, 10, (0, 0))) == 0


def test_a_dump_without_live_ranges_has_sizes_but_no_peaks():
    plan = small_plan(block(8, ("a", 0, 8)), max_step=None)
    found = peaks_of(plan)
    assert found.spaces[0] == (0, 8, 8, Peak(None, None), Peak(None, None), ())
    assert found.allocations == (AllocationPeak(Peak(None, None), None),)
    assert (found.logical_by_step, found.physical_by_step) == (None, None)


def test_without_allocations_in_memory_space_zero_nothing_is_live_there():
    plan = small_plan(block(8, ("a", 0, 8, (0, 1)), color=1), max_step=2)
    assert peaks_of(plan).logical_by_step == peaks_of(plan).physical_by_step == [0, 0]
    assert [space.memory_space for space in peaks_of(plan).spaces] == [1]


def test_few_values_in_a_long_schedule_peak_as_in_a_short_one():
    plan = small_plan(
        block(8, ("early", 0, 8, (100, 900)), ("late", 0, 8, (900, 1000))), max_step=1000
    )
    assert only_space(plan).logical == Peak(16, 900)
    assert only_space(plan).physical == Peak(8, 100)


# The definition, byte by byte and step by step.


def naive_live(plan, step):
    """Return index and value of all live values, in the order (first, last, value id)."""
    live = [
        (*span, value.value_id, place, value)
        for place, (value, span) in enumerate(zip(plan.values, value_spans(plan), strict=True))
        if span is not None and span[0] <= step <= span[1]
    ]
    return [(place, value) for *_, place, value in sorted(live)]


def naive_owners(plan, step, allocations):
    """Return the index of the value that owns each byte (allocation, offset) at a step."""
    return {
        (value.allocation, byte): place
        for place, value in naive_live(plan, step)
        if value.allocation in allocations
        for byte in range(value.offset_bytes, value.offset_bytes + value.size_bytes)
    }


def naive_peak(bytes_by_step):
    return Peak(max(bytes_by_step), bytes_by_step.index(max(bytes_by_step)))


def naive_hole(plan, number, step):
    owned = naive_owners(plan, step, {number})
    longest = run = 0
    for byte in range(plan.allocations[number].size_bytes):
        run = 0 if (number, byte) in owned else run + 1
        longest = max(longest, run)
    return longest


# With one byte nearly all values have the same slot, which takes a faster path.
@given(plans() | plans(bytes_=1))
def test_peaks_are_those_of_the_definition(plan):
    steps = range(plan.live_ranges.max_step + 1)
    found = peaks_of(plan)
    for space in found.spaces:
        numbers = {
            each.number for each in plan.allocations if each.memory_space == space.memory_space
        }
        logical = [
            sum(
                value.size_bytes
                for _, value in naive_live(plan, step)
                if value.allocation in numbers
            )
            for step in steps
        ]
        physical = [len(naive_owners(plan, step, numbers)) for step in steps]
        assert space.logical == naive_peak(logical)
        assert space.physical == naive_peak(physical)
        if space.memory_space == 0:
            assert found.logical_by_step == logical[:-1]
            assert found.physical_by_step == physical[:-1]
        owners = list(naive_owners(plan, space.physical.step, numbers).values())
        assert dict(space.shares) == {
            place: owners.count(place)
            for place, value in naive_live(plan, space.physical.step)
            if value.allocation in numbers
        }
        assert sum(own for _, own in space.shares) == space.physical.bytes
    for number, (peak, hole) in enumerate(found.allocations):
        assert peak == naive_peak([len(naive_owners(plan, step, {number})) for step in steps])
        assert hole == naive_hole(plan, number, peak.step)
