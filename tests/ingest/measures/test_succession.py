"""Values take over bytes from their predecessors, in place or after them."""

import random

from hypothesis import given

from tests.ingest.measures.small_plans import block, plans, small_plan
from xlagraph.ingest.measures.live_ranges import residents_of_allocations, value_spans
from xlagraph.ingest.measures.succession import alias_positions, succession, takeovers


def successions_of(plan):
    spans = value_spans(plan)
    return succession(spans, takeovers(residents_of_allocations(plan, spans)))


def successions(plan):
    """Write successions as sentences of names."""
    name = [value.name for value in plan.values]
    return {
        (
            name[pair.later],
            "updates in place" if pair.in_place else "reuses",
            name[pair.earlier],
            pair.shared_bytes,
            pair.steps,
        )
        for pair in successions_of(plan)
    }


def aliases(plan):
    spans = value_spans(plan)
    places = alias_positions(plan, spans, successions_of(plan))
    return {value.name: tuple(place) for value, place in zip(plan.values, places, strict=True)}


def test_values_that_touch_in_a_step_update_in_place():
    plan = small_plan(block(16, ("a", 0, 16, (0, 2)), ("b", 0, 16, (2, 4))), max_step=5)
    assert successions(plan) == {("b", "updates in place", "a", 16, 2)}


def test_values_that_do_not_touch_reuse_the_bytes_after_a_gap():
    plan = small_plan(block(16, ("a", 0, 16, (0, 2)), ("b", 0, 8, (5, 6))), max_step=7)
    assert successions(plan) == {("b", "reuses", "a", 8, 3)}


def test_one_earlier_value_is_succeeded_by_two_later_ones():
    plan = small_plan(
        block(16, ("a", 0, 16, (0, 1)), ("b", 0, 6, (1, 3)), ("c", 6, 10, (2, 3))), max_step=4
    )
    assert successions(plan) == {
        ("b", "updates in place", "a", 6, 1),
        ("c", "reuses", "a", 10, 1),
    }


def test_a_later_value_covers_two_earlier_ones():
    plan = small_plan(
        block(16, ("a", 0, 4, (0, 1)), ("b", 8, 8, (0, 2)), ("c", 2, 12, (4, 5))), max_step=6
    )
    assert successions(plan) == {
        ("c", "reuses", "a", 2, 3),
        ("c", "reuses", "b", 6, 2),
    }


def test_bytes_on_both_sides_of_another_value_are_taken_over_together():
    plan = small_plan(
        block(16, ("a", 0, 16, (0, 1)), ("b", 4, 4, (2, 3)), ("c", 0, 16, (5, 6))), max_step=7
    )
    assert successions(plan) == {
        ("b", "reuses", "a", 4, 1),
        ("c", "reuses", "b", 4, 2),
        ("c", "reuses", "a", 12, 4),
    }


def test_only_the_last_occupant_is_succeeded():
    plan = small_plan(
        block(8, ("a", 0, 8, (0, 1)), ("b", 0, 8, (2, 3)), ("c", 0, 8, (4, 5))), max_step=6
    )
    assert successions(plan) == {("b", "reuses", "a", 8, 1), ("c", "reuses", "b", 8, 1)}


def test_of_equal_ranges_the_larger_value_id_takes_over():
    plan = small_plan(block(8, ("b", 0, 8, (1, 2), 9), ("a", 0, 8, (1, 2), 4)), max_step=3)
    assert successions(plan) == {("b", "updates in place", "a", 8, 1)}


def test_values_without_bytes_or_without_a_live_range_have_no_succession():
    plan = small_plan(
        block(8, ("a", 0, 8, (0, 1)), ("empty", 0, 0, (1, 2)), ("idle", 0, 8)), max_step=3
    )
    assert successions(plan) == set()
    assert aliases(plan) == {"a": (1, 0), "empty": (2, 0), "idle": (3, 0)}


def test_offsets_of_different_allocations_have_nothing_in_common():
    plan = small_plan(block(8, ("a", 0, 8, (0, 1))), block(8, ("b", 0, 8, (1, 2))), max_step=3)
    assert successions(plan) == set()


def test_a_dump_without_live_ranges_has_no_succession():
    plan = small_plan(block(8, ("a", 0, 8), ("b", 0, 8)), max_step=None)
    assert successions(plan) == set()
    assert aliases(plan) == {"a": (1, 0), "b": (2, 0)}


def test_an_alias_set_is_named_after_its_smallest_id_and_counts_by_live_range():
    plan = small_plan(
        block(
            8,
            ("last", 0, 8, (5, 9), 2),
            ("first", 0, 8, (0, 3), 7),
            ("middle", 0, 8, (3, 5), 4),
        ),
        max_step=9,
    )
    assert aliases(plan) == {"first": (2, 0), "middle": (2, 1), "last": (2, 2)}


def test_branches_of_updates_in_place_are_one_alias_set_and_reuse_begins_another():
    plan = small_plan(
        block(
            16,
            ("whole", 0, 16, (0, 2)),
            ("low", 0, 8, (2, 3)),
            ("high", 8, 8, (2, 4)),
            ("next", 0, 16, (6, 7)),
        ),
        max_step=8,
    )
    assert aliases(plan) == {"whole": (1, 0), "low": (1, 1), "high": (1, 2), "next": (4, 0)}


# The definition, byte by byte over all pairs.


def naive_successions(plan):
    spans = {place: span for place, span in enumerate(value_spans(plan)) if span is not None}
    order = sorted(
        (place for place in spans if plan.values[place].size_bytes),
        key=lambda place: (*spans[place], plan.values[place].value_id),
    )
    last_occupant: dict[tuple[int, int], int] = {}
    shared: dict[tuple[int, int], int] = {}
    for later in order:
        value = plan.values[later]
        for byte in range(value.offset_bytes, value.offset_bytes + value.size_bytes):
            earlier = last_occupant.get((value.allocation, byte))
            if earlier is not None:
                shared[later, earlier] = shared.get((later, earlier), 0) + 1
            last_occupant[value.allocation, byte] = later
    found = set()
    for (later, earlier), shared_bytes in shared.items():
        begins, ended = spans[later][0], spans[earlier][1]
        if ended >= begins:
            found.add((later, earlier, True, shared_bytes, begins))
        else:
            found.add((later, earlier, False, shared_bytes, begins - ended))
    return found


# With one byte nearly all values have the same slot, which takes a faster path.
@given(plans() | plans(bytes_=1))
def test_succession_is_that_of_the_definition(plan):
    found = successions_of(plan)
    assert set(found) == naive_successions(plan)
    assert len(found) == len(set(found))


@given(plans(max_step=12, bytes_=4))
def test_alias_sets_are_those_of_the_definition(plan):
    spans = value_spans(plan)
    set_of = {place: value.value_id for place, value in enumerate(plan.values)}
    for _ in plan.values:  # until nothing changes
        for later, earlier, in_place, *_ in naive_successions(plan):
            if in_place:
                set_of[later] = set_of[earlier] = min(set_of[later], set_of[earlier])
    members: dict[int, list[tuple[tuple[int, ...], int]]] = {}
    for place, alias_set in set_of.items():
        order = (*(spans[place] or ()), plan.values[place].value_id)
        members.setdefault(alias_set, []).append((order, place))
    expected = {
        place: (alias_set, position)
        for alias_set, placed in members.items()
        for position, (_, place) in enumerate(sorted(placed))
    }
    found = alias_positions(plan, spans, successions_of(plan))
    assert dict(enumerate(map(tuple, found))) == expected


def test_a_block_of_thousands_of_slots_has_the_same_succession_as_a_small_one():
    draw = random.Random(20).randrange
    values = []
    for number in range(3000):
        size = draw(1, 4000) if draw(50) == 0 else draw(1, 4)
        offset = draw(0, 9000 - size)
        first = draw(0, 1000)
        values.append((f"v.{number}", offset, size, (first, first + draw(0, 9))))
    plan = small_plan(block(9000, *values), max_step=1010)
    assert set(successions_of(plan)) == naive_successions(plan)
