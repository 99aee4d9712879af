"""The ticks at which buffers of the heap begin and end."""

from tests.planner.small_programs import value
from xlagraph.planner.heap import heap_groups, live_bytes_by_step
from xlagraph.planner.planned_program import Overwrite


def groups(*values, overwrites=None):
    sizes: dict[int, int] = {}
    for member in values:
        sizes[member.buffer_set] = sizes.get(member.buffer_set, 0) + 1
    named = {
        value_id: [
            Overwrite(operand, is_operand=True, may_share_block=True) for operand in operands
        ]
        for value_id, operands in (overwrites or {}).items()
    }
    return heap_groups(values, sizes, named)


def test_every_definition_and_every_free_is_one_tick_definitions_first():
    (a, b) = groups(value(1, 0, 2), value(2, 2, 3))
    # 0: define a   2: define b, free a   3: free b
    assert a.ticks == ((0, 2),)
    assert b.ticks == ((1, 3),)


def test_values_of_one_set_share_bytes_and_others_may_use_their_gaps():
    (loop,) = groups(value(1, 0, 1, buffer_set=1), value(2, 5, 6, buffer_set=1))
    assert loop.value_ids == (1, 2)
    assert loop.ticks == ((0, 1), (2, 3))


def test_a_group_is_as_large_as_its_largest_member():
    (loop,) = groups(value(1, 0, 1, 16, buffer_set=1), value(2, 1, 2, 48, buffer_set=1))
    assert loop.size_bytes == 48


def test_an_overwritten_operand_is_freed_one_tick_earlier():
    (shared,) = groups(value(1, 0, 2), value(2, 2, 3), overwrites={2: [1]})
    assert shared.ticks == ((0, 1), (2, 3))


def test_the_first_operand_that_ends_there_is_taken_and_only_once():
    operands = (value(1, 0, 3), value(2, 0, 2), value(3, 0, 2))
    both = (value(4, 2, 5), value(5, 2, 5))
    found = groups(*operands, *both, overwrites={4: [1, 2, 3], 5: [2, 3]})
    assert [group.value_ids for group in found] == [(2, 4), (3, 5), (1,)]


def test_a_member_of_a_larger_set_neither_overwrites_nor_is_overwritten():
    loop = (value(1, 0, 2, buffer_set=1), value(2, 4, 5, buffer_set=1))
    found = groups(*loop, value(3, 2, 3), overwrites={3: [1]})
    assert [group.value_ids for group in found] == [(1, 2), (3,)]


def test_a_value_of_zero_bytes_makes_no_tick():
    (a,) = groups(value(1, 0, 2), value(2, 1, 1, 0))
    assert a.ticks == ((0, 1),)


def test_live_bytes_count_a_group_once_if_its_members_touch():
    found = groups(value(1, 0, 2), value(2, 2, 3), overwrites={2: [1]})
    assert live_bytes_by_step(found) == [(0, 16), (4, 0)]
