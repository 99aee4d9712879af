"""Values can be removed, shortened or shrunk."""

from fractions import Fraction

from tests.planner.small_programs import program, value
from xlagraph.planner.value_changes import (
    with_shortened_values,
    with_shrunk_values,
    with_sources_of_removed_copies,
    without_values,
)


def test_without_a_value_its_set_is_as_large_as_the_rest():
    made = program(
        value(1, 0, 1, 64, buffer_set=1), value(2, 1, 2, 64, buffer_set=1), value(3, 0, 2)
    )
    assert [changed.value_id for changed in without_values(made, [1, 3]).values] == [2]


def test_a_value_ends_earlier_but_never_before_it_begins_nor_later_than_it_did():
    made = program(value(1, 2, 8), value(2, 2, 8), value(3, 2, 8))
    found = with_shortened_values(made, {1: 5, 2: -1, 3: 9})
    assert [changed.live_until for changed in found.values] == [5, 2, 8]


def test_a_set_shrinks_if_all_its_members_do_and_bytes_are_rounded_up():
    made = program(
        value(1, 0, 1, 64, buffer_set=1),
        value(2, 1, 2, 64, buffer_set=1),
        value(3, 0, 1, 5),
        value(4, 0, 1, 8, is_table=True),
    )
    half = Fraction(1, 2)
    assert [changed.size_bytes for changed in with_shrunk_values(made, {1: half}).values] == [
        64,
        64,
        5,
        8,
    ]
    every = dict.fromkeys((1, 2, 3, 4), half)
    assert [changed.size_bytes for changed in with_shrunk_values(made, every).values] == [
        32,
        32,
        3,
        8,
    ]


def test_what_reads_a_removed_copy_of_a_copy_reads_the_source():
    made = program(
        value(1, 0, 1),
        value(2, 1, 2, is_copy=True, operands=(1,)),
        value(3, 2, 6, is_copy=True, operands=(2,)),
    )
    changed = with_sources_of_removed_copies(made, [2, 3])
    assert changed.by_id[1].live_until == 6


def test_the_source_of_a_removed_copy_ends_where_something_is_written_over_it():
    made = program(
        value(1, 0, 1, buffer_set=1),
        value(2, 1, 8, is_copy=True, operands=(1,)),
        value(3, 4, 5, buffer_set=1),
        value(4, 7, 9, buffer_set=1),
    )
    changed = with_sources_of_removed_copies(made, [2])
    assert [(each.live_from, each.live_until) for each in changed.sets[1]] == [
        (0, 4),
        (4, 5),
        (7, 9),
    ]


def test_a_removed_copy_that_is_returned_has_no_reader():
    made = program(value(1, 0, 1), value(2, 1, 6, is_copy=True, lives_out=True, operands=(1,)))
    assert with_sources_of_removed_copies(made, [2]) == made


def test_what_is_written_into_a_removed_copy_is_written_into_what_it_copies():
    made = program(
        value(1, 0, 9, buffer_set=1),
        value(2, 2, 3, buffer_set=2, is_copy=True, operands=(1,)),
        value(3, 3, 5, buffer_set=2, operands=(2,)),
        value(4, 5, 6, buffer_set=1, is_copy=True, operands=(3,)),
        value(5, 6, 9, buffer_set=1, operands=(4,)),
    )
    changed = with_sources_of_removed_copies(made, [2, 4]).by_id
    assert changed[3].buffer_set == changed[5].buffer_set == changed[1].buffer_set
    assert [(changed[each].live_from, changed[each].live_until) for each in (1, 3, 5)] == [
        (0, 3),
        (3, 6),
        (6, 9),
    ]


def test_carries_that_change_places_stay_apart_without_their_copies():
    made = program(
        value(1, 0, 5, buffer_set=1),
        value(2, 0, 5, buffer_set=2),
        value(3, 3, 6, buffer_set=2, is_copy=True, operands=(1,)),
        value(4, 4, 6, buffer_set=1, is_copy=True, operands=(2,)),
    )
    changed = with_sources_of_removed_copies(made, [3, 4]).by_id
    assert changed[1].buffer_set != changed[2].buffer_set
