"""Reusable blocks are found by the gaps between the live ranges of the values in them."""

import random

import pytest

from tests.planner.small_programs import value
from xlagraph.planner.block_contents import Block, ReusableBlocks

STEPS = 24


def some_steps(chance: random.Random) -> tuple[int, int]:
    first, last = sorted(chance.choices(range(STEPS + 1), k=2))
    return first, last


def overlap(one, other):
    return one.live_from < other.live_until and other.live_from < one.live_until


def free_of_overlap(blocks, members):
    """Apply the definition to each block, the newest first."""
    return [
        block
        for block in reversed(blocks)
        if not any(overlap(held, member) for held in block.values for member in members)
    ]


def test_live_ranges_may_meet_in_a_step():
    reusable, block = ReusableBlocks(), Block(16, 0)
    reusable.add(block)
    reusable.hold(block, [value(1, 5, 9)])
    assert list(reusable.without_overlap([value(2, 0, 5)])) == [block]
    assert list(reusable.without_overlap([value(3, 9, 12)])) == [block]
    assert list(reusable.without_overlap([value(4, 8, 12)])) == []


@pytest.mark.parametrize("seed", range(60))
def test_the_blocks_without_an_overlap_are_found(seed):
    chance = random.Random(seed)
    reusable = ReusableBlocks()
    blocks: list[Block] = []
    states = []
    for number in range(40):
        members = [value(number, *some_steps(chance)) for _ in range(chance.choice((1, 1, 1, 3)))]
        free = list(reusable.without_overlap(members))
        assert free == free_of_overlap(blocks, members)
        states.append((reusable.held_count, members, [block.reusable_number for block in free]))
        # members of one set may overlap, and a value may overwrite its operand
        block = chance.choice(free) if free and chance.random() < 0.7 else Block(16, 0)
        if not block.values:
            blocks.append(block)
            reusable.add(block)
        block.hold(members)
        reusable.hold(block, members)
    earlier = ReusableBlocks()
    for held_count, members, numbers in states:
        earlier.repeat(reusable, held_count)
        found = [block.reusable_number for block in earlier.without_overlap(members)]
        assert found == numbers


def test_a_value_may_live_longer_than_all_that_are_held():
    reusable, block = ReusableBlocks(), Block(16, 0)
    reusable.add(block)
    reusable.hold(block, [value(1, 1, 4)])
    assert list(reusable.without_overlap([value(2, 40, 50)])) == [block]
    assert list(reusable.without_overlap([value(3, 0, 50)])) == []
