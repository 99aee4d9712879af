"""Best fit places buffers by size and by time."""

import random

import pytest

from xlagraph.planner.heap import Group
from xlagraph.planner.packing import STRATEGIES, Order, Strategy, pack

SPATIAL = Strategy((Order.SPATIAL,))


def group(name, size, *ticks):
    return Group((name,), size, ticks, ticks)


def test_the_largest_is_placed_first_and_others_beside_it():
    groups = [group(1, 16, (0, 3)), group(2, 64, (1, 2))]
    assert pack(groups, 16, SPATIAL).offsets == (64, 0)


def test_of_equal_sizes_the_longest_goes_first_then_the_smallest_id():
    groups = [group(1, 16, (0, 1)), group(2, 16, (0, 5)), group(3, 16, (0, 1))]
    assert pack(groups, 16, SPATIAL).offsets == (16, 0, 32)


def test_a_gap_begins_at_the_alignment_and_the_heap_ends_where_its_last_chunk_does():
    groups = [group(1, 20, (0, 1)), group(2, 10, (0, 1))]
    packed = pack(groups, 16, SPATIAL)
    assert packed.offsets == (0, 32)
    assert packed.size_bytes == 42


def test_the_smallest_gap_that_fits_is_taken_the_lowest_of_equal_ones():
    stack = [group(1, 96, (0, 1)), group(2, 80, (0, 9)), group(3, 64, (0, 1)), group(4, 48, (0, 9))]
    assert pack(stack, 16, SPATIAL).offsets == (0, 96, 176, 240)
    # at tick 5, 96 bytes are free below 2, and 64 between 2 and 4
    assert pack([*stack, group(5, 32, (5, 6))], 16, SPATIAL).offsets[-1] == 176


def test_a_gap_of_a_member_is_free_for_others():
    groups = [group(1, 32, (0, 1), (6, 7)), group(2, 16, (3, 4))]
    assert pack(groups, 16, SPATIAL).size_bytes == 32


def test_a_group_placed_by_its_start_has_no_gap():
    groups = [group(1, 32, (0, 1), (6, 7)), group(2, 16, (3, 4))]
    assert pack(groups, 16, Strategy((Order.START,))).offsets == (0, 32)


def test_the_temporal_order_is_used_only_for_a_smaller_heap():
    strategy = STRATEGIES[0]
    rng = random.Random(7)
    for _ in range(50):
        groups = [
            group(
                name,
                rng.randrange(1, 9) * 16,
                (start := rng.randrange(40), start + rng.randrange(20)),
            )
            for name in range(20)
        ]
        sizes = [pack(groups, 16, Strategy((order,))).size_bytes for order in strategy.orders]
        both = pack(groups, 16, strategy)
        assert both.size_bytes == min(sizes)
        if sizes[0] <= sizes[1]:
            assert both == pack(groups, 16, SPATIAL)


def test_a_bounded_top_counts_as_a_gap():
    # When 4 is placed, 64 are free below 2 and 32 above it, up to the end of the heap.
    groups = [
        group(1, 64, (0, 1)), group(2, 48, (0, 9)), group(3, 32, (0, 1)), group(4, 16, (6, 7)),
    ]  # fmt: skip
    assert pack(groups, 16, SPATIAL).offsets == (0, 64, 112, 0)
    bounded = Strategy((Order.SPATIAL,), has_bounded_top=True)
    assert pack(groups, 16, bounded).offsets == (0, 64, 112, 112)


def overlaps(one, other):
    return any(a <= d and c <= b for a, b in one.ticks for c, d in other.ticks)


def by_size(group):
    return -group.size_bytes, group.ticks[0][0] - group.ticks[0][1], group.value_ids


def by_start(group):
    return group.ticks[0][0], -group.size_bytes, group.value_ids


def naive_offsets(groups, alignment, key=by_size, *, has_bound=False):
    """Apply the definition: the smallest gap that begins at an aligned end of live bytes."""
    order = sorted(range(len(groups)), key=lambda row: key(groups[row]))
    placed: dict[int, int] = {}
    heap = 0
    for row in order:
        live = [
            (placed[other], placed[other] + groups[other].size_bytes)
            for other in placed
            if overlaps(groups[row], groups[other])
        ]
        starts = {0} | {-(-end // alignment) * alignment for _, end in live}
        gaps = []
        for start in starts:
            if any(low < start < -(-high // alignment) * alignment for low, high in live):
                continue
            if any(low == start for low, _ in live):
                continue
            above = [low for low, _ in live if low > start]
            top = min(above, default=None)
            if top is None:
                is_bounded = has_bound and heap - start >= groups[row].size_bytes
                gaps.append((heap - start if is_bounded else float("inf"), start))
            elif top - start >= groups[row].size_bytes:
                gaps.append((top - start, start))
        placed[row] = min(gaps)[1]
        heap = max(heap, placed[row] + groups[row].size_bytes)
    return tuple(placed[row] for row in range(len(groups)))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("has_bound", [False, True])
def test_groups_placed_by_their_start_are_packed_as_if_all_chunks_were_compared(seed, has_bound):
    rng = random.Random(seed)
    groups = []
    for name in range(60):
        first = rng.randrange(60)
        last = first + rng.randrange(20)
        groups.append(group(name, rng.choice((1, 16, 40, 64, 256)), (first, last)))
    strategy = Strategy((Order.START,), has_bounded_top=has_bound)
    wanted = naive_offsets(groups, 16, by_start, has_bound=has_bound)
    assert pack(groups, 16, strategy).offsets == wanted


@pytest.mark.parametrize("seed", range(20))
def test_packing_agrees_with_the_definition(seed):
    rng = random.Random(seed)
    groups = []
    for name in range(40):
        ticks = []
        at = 0
        for _ in range(rng.randrange(1, 4)):
            at += rng.randrange(1, 30)
            ticks.append((at, at := at + rng.randrange(12)))
            at += 1
        groups.append(group(name, rng.randrange(1, 200), *ticks))
    packed = pack(groups, 16, SPATIAL)
    assert packed.offsets == naive_offsets(groups, 16)
    for row, one in enumerate(groups):
        for other in range(row):
            apart = not overlaps(one, groups[other])
            low, high = sorted((row, other), key=packed.offsets.__getitem__)
            assert apart or packed.offsets[low] + groups[low].size_bytes <= packed.offsets[high]
