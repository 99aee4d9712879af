"""Buffer sets use the block of an output or donated parameter, a new block, or the heap."""

import random
from dataclasses import replace

import pytest

from tests.planner.small_programs import program, value
from xlagraph.planner.blocks import choose_blocks, share_blocks
from xlagraph.planner.planned_program import Overwrite, PlannedAllocation, PlannedValue

DONATED = PlannedAllocation(0, 64, "parameter", 0, maybe_live_out=True, parameter_number=0)
GIVEN = PlannedAllocation(1, 64, "parameter", 0, parameter_number=1)


def chosen(*values, allocations=(), overwrites=None):
    made = choose_blocks(program(*values, allocations=allocations, overwrites=overwrites), values)
    return (
        [[value.value_id for value in block.values] for block in made.blocks],
        [value.value_id for value in made.heap_values],
    )


def test_values_that_do_not_live_out_are_in_the_heap():
    assert chosen(value(1, 0, 3), value(2, 3, 10, lives_out=True)) == ([[2]], [1])


def test_temporaries_may_use_the_block_of_an_output_that_begins_later():
    assert chosen(value(1, 0, 3), value(2, 4, 10, lives_out=True)) == ([[2, 1]], [])


def test_a_compiler_may_put_all_temporaries_into_heaps():
    donated = value(1, 0, 2, allocation=0, is_stored=True)
    values = (donated, value(2, 3, 5), value(3, 4, 10, lives_out=True))
    usual = program(*values, allocations=(DONATED,))
    first = choose_blocks(replace(usual, heaps_take_all=True), values)
    assert [[each.value_id for each in block.values] for block in first.blocks] == [[3], [1]]
    assert [each.value_id for each in first.heap_values] == [2]


def test_sets_of_values_that_a_compiler_keeps_in_heaps_take_no_block():
    values = (value(1, 0, 1), value(2, 1, 3, buffer_set=1), value(3, 4, 10, lives_out=True))
    usual = program(*values)
    assert not choose_blocks(usual, values).heap_values
    found = choose_blocks(replace(usual, heap_ids=frozenset({1})), values)
    assert [each.value_id for each in found.heap_values] == [1, 2]


@pytest.mark.parametrize(("allocation", "shared"), [(9, False), (0, True)])
def test_a_plan_shows_whether_temporaries_share_blocks(allocation, shared):
    donated = value(1, 0, 2, allocation=0, is_stored=True)
    result = value(2, 7, 9, allocation=0, lives_out=True)
    temporary = value(3, 3, 5, allocation=allocation)
    made = program(donated, result, temporary, allocations=(DONATED,))
    assert share_blocks(made.values, made.allocations) is shared


def test_a_temporary_larger_than_the_output_does_not_use_its_block():
    assert chosen(value(1, 0, 3, 32), value(2, 4, 10, 16, lives_out=True)) == ([[2]], [1])


def test_an_output_takes_only_a_block_of_its_size():
    values = (value(1, 0, 3, 64, lives_out=True), value(2, 5, 10, 16, lives_out=True))
    assert chosen(*values) == ([[1], [2]], [])


def test_only_a_donated_parameter_is_free_after_its_end():
    donated = value(1, 0, 2, 64, allocation=0, is_stored=True)
    given = value(2, 0, 2, 64, allocation=1, is_stored=True)
    values = (donated, given, value(3, 3, 5))
    assert chosen(*values, allocations=(DONATED, GIVEN)) == ([[1, 3], [2]], [])


def test_only_a_value_that_may_overwrite_shares_a_step():
    values = (value(1, 0, 3), value(2, 3, 10, lives_out=True, operands=(1,)))
    overwrites = {2: (Overwrite(1, is_operand=True, may_share_block=True),)}
    assert chosen(*values, overwrites=overwrites) == ([[2, 1]], [])


def test_a_value_that_may_overwrite_in_a_heap_need_not_share_a_block():
    values = (value(1, 0, 3), value(2, 3, 10, lives_out=True, operands=(1,)))
    overwrites = {2: (Overwrite(1, is_operand=True, may_share_block=False),)}
    assert chosen(*values, overwrites=overwrites) == ([[2]], [1])


def test_a_copy_never_shares_with_its_operand():
    values = (value(1, 0, 3), value(2, 4, 10, lives_out=True, is_copy=True, operands=(1,)))
    assert chosen(*values) == ([[2]], [1])


def test_a_table_has_a_block_that_nothing_else_uses():
    values = (value(1, 0, 3, 64, is_table=True), value(2, 5, 7))
    made = choose_blocks(program(*values), values)
    assert [block.size_bytes for block in made.tables] == [64]
    assert [value.value_id for value in made.heap_values] == [2]


def test_the_newest_block_is_tried_first_after_those_of_operands():
    outputs = (value(1, 8, 10, 64, lives_out=True), value(2, 8, 10, 32, lives_out=True))
    assert chosen(*outputs, value(3, 0, 2)) == ([[1], [2, 3]], [])
    assert chosen(*outputs, value(4, 0, 1, 64), value(3, 2, 4, operands=(4,))) == (
        [[1, 4, 3], [2]],
        [],
    )


def test_of_one_size_post_order_decides_and_not_the_schedule():
    outputs = (value(1, 8, 10, lives_out=True),)
    early, late = value(2, 0, 2, post_order=9), value(3, 1, 3, post_order=5)
    assert chosen(*outputs, early, late) == ([[1, 3]], [2])


def test_comparing_all_blocks_at_once_equals_comparing_one_by_one():
    for seed in range(300):
        values = random_values(random.Random(seed))
        made = choose_blocks(program(*values), values)
        assert [block.values for block in made.blocks] == one_by_one(values), seed


def test_blocks_of_a_changed_program_equal_those_chosen_without_the_unchanged_one():
    reused = 0
    for seed in range(300):
        rng = random.Random(seed)
        before = program(*random_values(rng), *outputs(rng))
        known = choose_blocks(before, before.values)
        changed = list(before.values)
        for row in rng.sample(range(len(changed)), 2):
            last = changed[row].live_from + rng.randrange(6)
            changed[row] = changed[row]._replace(live_until=last)
        after = replace(before, values=tuple(changed))
        again = choose_blocks(after, after.values, known)
        alone = choose_blocks(after, after.values)
        assert held(again) == held(alone), seed
        reused += again.blocks is known.blocks
    assert reused > 20


def outputs(rng):
    return [value(number, rng.randrange(12), 20, 16, lives_out=True) for number in range(20, 24)]


def held(made):
    blocks = [{each.value_id for each in block.values} for block in made.blocks]
    return blocks, {each.value_id for each in made.heap_values}


def random_values(rng):
    firsts = [rng.randrange(12) for _ in range(12)]
    return [
        value(
            number,
            first,
            first + rng.randrange(6),
            rng.choice((16, 32)),
            lives_out=rng.random() < 0.5,
            memory_space=rng.randrange(2),
        )
        for number, first in enumerate(firsts, 1)
    ]


def one_by_one(values):
    """Compute the blocks of values without buffer sets, copies or overwrites."""
    blocks: list[list[PlannedValue]] = []
    for new in sorted(values, key=lambda each: (-each.size_bytes, not each.lives_out)):
        for block in reversed(blocks):
            fits = new.size_bytes == block[0].size_bytes or not new.lives_out
            apart = all(
                new.live_from > each.live_until or each.live_from > new.live_until for each in block
            )
            if fits and apart and new.memory_space == block[0].memory_space:
                block.append(new)
                break
        else:
            if new.lives_out:
                blocks.append([new])
    return blocks
