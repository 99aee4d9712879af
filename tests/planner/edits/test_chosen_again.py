"""A GPU's compiler chooses the order again: for values of other sizes and donated parameters."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.advice.small_compilations import compilation, facts
from tests.planner.orders.small_schedules import names, reorderable
from xlagraph.planner.edits.chosen_again import chosen_again
from xlagraph.planner.edits.donating import Donate
from xlagraph.planner.edits.edit import replan
from xlagraph.planner.orders.choice_of_three import chosen_by_estimate
from xlagraph.planner.orders.rules import may_make_all, order_of
from xlagraph.planner.planned_program import PlannedAllocation
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


# `add` has the shape of the weights, which `dot2` reads too
STEP = (
    ("parameter2", "", 8),
    ("neg", "parameter2", 8),
    ("parameter1", "", 64),
    ("dot1", "neg parameter1", 128),
    ("add", "parameter1 dot1", 64),
    ("dot2", "parameter1", 8),
    ("tuple", "add dot2", 16),
)
COPIED = "parameter2 parameter1 neg dot1 add dot2 tuple"
"""Its order if a copy of the weights comes before both that read it."""


@pytest.mark.parametrize(
    ("rows", "is_known", "order"),
    [
        pytest.param(STEP, True, COPIED, id="another order"),
        pytest.param(STEP, False, None, id="no scheduler is known"),
        pytest.param([*STEP[:5], ("dot2", "add", 8), STEP[6]], True, None, id="no copy"),
    ],
)
def test_the_copies_of_donated_parameters_are_ordered_although_they_are_dropped(
    rows, is_known, order
):
    found = reorderable(*rows)
    assert may_make_all(chosen_by_estimate(found), found.schedulable)
    weights = PlannedAllocation(0, 64, "parameter", 0, parameter_number=0, shape_index="{}")
    compiled = compilation(
        [
            value._replace(is_stored=True, allocation=0) if value.value_id == 2 else value
            for value in found.planned.values
        ],
        [facts(row, f"f32[{size // 4}]", size_bytes=size) for row, (_, _, size) in enumerate(rows)],
        allocations=(weights,),
        results=(4,),
        parameters={2: (0, "{}")},
    )
    reordering = replace(found, planned=compiled.program) if is_known else None
    after = replan(compiled, [Donate(("weights",), frozenset({2}), reordering)])
    assert after.edited is not None
    assert [each.output for each in after.edited.donated] == ["v4"]
    if order is None:
        assert after.compilation is compiled
    else:
        made = sorted(after.compilation.program.values, key=lambda value: value.live_from)
        assert names(found.schedulable, [value.value_id for value in made]) == order
