"""XLA takes the best of three orders on GPUs; a better one shows that dependences are missing."""

import pytest

from tests.planner.orders.small_schedules import reorderable
from xlagraph.planner.orders.choice_of_three import lacks_dependences

WIDE = (
    ("parameter0", "", 4),
    ("negate1", "parameter0", 256),
    ("add2", "parameter0 negate1", 64),
    ("negate3", "negate1", 4),
    ("negate4", "add2", 16),
    ("add5", "negate3 negate4", 4),
)


@pytest.mark.parametrize(
    ("rows", "lacks"),
    [
        pytest.param(WIDE, True, id="the sum is first, which frees the parameter"),
        pytest.param((*WIDE[:2], WIDE[3], WIDE[2], *WIDE[4:]), False, id="one of the three orders"),
    ],
)
def test_an_order_better_than_all_three_lacks_dependences(rows, lacks):
    assert lacks_dependences(reorderable(*rows)) == lacks
