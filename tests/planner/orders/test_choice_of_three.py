"""XLA takes the best of three orders on GPUs; another one shows that dependences are missing."""

import pytest

from tests.planner.orders.small_schedules import reorderable
from xlagraph.planner.orders.choice_of_three import choice_of_three, lacks_dependences

WIDE = (
    ("parameter0", "", 4),
    ("negate1", "parameter0", 256),
    ("add2", "parameter0 negate1", 64),
    ("negate3", "negate1", 4),
    ("negate4", "add2", 16),
    ("add5", "negate3 negate4", 4),
)
CHAINS = (
    ("parameter0", "", 4),
    ("negate1", "parameter0", 256),
    ("negate2", "parameter0", 256),
    ("negate3", "negate1", 4),
    ("negate4", "parameter0", 256),
    ("negate5", "negate4", 4),
    ("negate6", "negate2", 4),
    ("add7", "negate3 negate5 negate6", 4),
)


@pytest.mark.parametrize(
    ("rows", "lacks"),
    [
        pytest.param(WIDE, True, id="the sum is first, which frees the parameter"),
        pytest.param((*WIDE[:2], WIDE[3], WIDE[2], *WIDE[4:]), False, id="one of the three orders"),
        pytest.param(CHAINS, True, id="none of the three, and worse than they are"),
    ],
)
def test_an_order_that_no_scheduler_makes_lacks_dependences(rows, lacks):
    found = reorderable(*rows)
    rule, orders = choice_of_three(found)
    assert lacks_dependences(found, orders[rule]) == lacks
