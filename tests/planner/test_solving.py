"""The smallest heap, found by a solver."""

import pytest

from xlagraph.planner.heap import Group
from xlagraph.planner.packing import STRATEGIES, pack
from xlagraph.planner.solving import solve_packing


def group(name, size, *ticks):
    return Group((name,), size, ticks, ticks)


def test_a_heap_as_large_as_what_is_live_needs_no_solver():
    solved = solve_packing([group(1, 64, (0, 2)), group(2, 64, (1, 3))], 64, 128, 1)
    assert (solved.size_bytes, solved.bound_bytes, solved.is_optimal) == (128, 128, True)


def test_a_smaller_heap_than_the_best_fit_is_found_and_proved():
    pytest.importorskip("ortools")
    groups = [
        group(1, 128, (0, 3)),
        group(2, 192, (3, 6)),
        group(3, 128, (6, 9)),
        group(4, 64, (0, 1), (8, 9)),  # its bytes are free from 2 to 7
        group(5, 128, (1, 2)),
        group(6, 64, (5, 8)),
    ]
    packed = pack(groups, 64, STRATEGIES[0])
    solved = solve_packing(groups, 64, packed.size_bytes + 64, 5)
    assert solved.is_optimal
    assert solved.size_bytes <= packed.size_bytes
