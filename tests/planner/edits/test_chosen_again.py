"""A GPU's compiler chooses the order again for values of other sizes."""

from fractions import Fraction

import pytest

from tests.advice.small_compilations import compilation, facts
from tests.planner.orders.small_schedules import reorderable
from xlagraph.planner.edits.chosen_again import chosen_again
from xlagraph.planner.orders.choice_of_three import chosen_by_estimate
from xlagraph.planner.orders.rules import order_of
from xlagraph.planner.value_changes import with_shrunk_values

# two chains from one parameter, added at the end
CHAINS = (
    ("parameter", "", 8),
    ("sin2", "parameter", 16),
    ("cos2", "sin2", 16),
    ("sin1", "parameter", 32),
    ("cos1", "sin1", 16),
    ("add", "cos1 cos2", 16),
)


@pytest.mark.parametrize("kept", [Fraction(1), Fraction(1, 2), Fraction(1, 8)])
def test_the_order_is_that_of_a_program_with_these_sizes(kept):
    sizes = [int(size * kept) if name.endswith("2") else size for name, _, size in CHAINS]
    other = reorderable(
        *[(name, read, size) for (name, read, _), size in zip(CHAINS, sizes, strict=True)]
    )
    order = order_of(other.schedulable, chosen_by_estimate(other))["main"]
    found = reorderable(*CHAINS)
    compiled = compilation(
        found.planned.values,
        [facts(row, "f32[16]", "cosine") for row in range(len(CHAINS))],
        platform="gpu",
    )
    chain = {row: kept for row, (name, _, _) in enumerate(CHAINS) if name.endswith("2")}
    after = chosen_again(found, compiled, with_shrunk_values(found.planned, chain))
    made = sorted(after.program.values, key=lambda value: value.live_from)
    assert [value.value_id for value in made] == list(order)
    assert [after.program.by_id[row].size_bytes for row in range(len(CHAINS))] == sizes
