"""Orders that XLA's memory schedulers choose."""

from dataclasses import replace

import pytest

from tests.planner.orders.small_schedules import names, schedulable
from xlagraph.planner.orders.list_rule import list_order
from xlagraph.planner.orders.rules import (
    Rule,
    breadth_first_order,
    depth_first_order,
    may_make_most,
    post_order,
    rules_of,
)

# two chains from one parameter, added at the end; the second one is made of larger values
CHAINS = (
    ("parameter", "", 8),
    ("sin1", "parameter", 8),
    ("sin2", "parameter", 64),
    ("cos1", "sin1", 8),
    ("cos2", "sin2", 64),
    ("add", "cos1 cos2", 8),
)


def test_post_order_visits_operands_from_first_to_last():
    program = schedulable(*CHAINS)
    assert names(program, post_order(program, "main")) == "parameter sin1 cos1 sin2 cos2 add"


def test_depth_first_visits_the_operand_with_more_bytes_behind_it_first():
    program = schedulable(*CHAINS)
    assert names(program, depth_first_order(program, "main")) == "parameter sin2 cos2 sin1 cos1 add"


def test_depth_first_visits_the_operand_with_more_extra_users_before_a_larger_one():
    program = schedulable(
        ("parameter", "", 8),
        ("neg", "parameter", 8),
        ("sin1", "neg", 8),
        ("sin2", "parameter", 64),
        ("tuple", "sin2 sin1 neg", 24),
    )
    assert names(program, depth_first_order(program, "main")) == "parameter neg sin1 sin2 tuple"


def test_equal_operands_are_visited_by_name():
    program = schedulable(("parameter", "", 8), ("b1", "parameter", 8), ("a2", "parameter", 8),
                          ("add", "b1 a2", 8))  # fmt: skip
    assert names(program, depth_first_order(program, "main")) == "parameter a2 b1 add"


@pytest.mark.parametrize(("counts_results", "first"), [(True, "call2"), (False, "call1")])
def test_a_call_has_the_bytes_that_it_returns_only_in_older_compilers(counts_results, first):
    program = schedulable(
        ("parameter", "", 8), ("call1", "parameter", 0), ("call2", "parameter", 0),
        ("add", "call1 call2", 8),
    )  # fmt: skip
    call = program.instructions[2]._replace(result_bytes=64)  # its fusion defines the value
    instructions = (*program.instructions[:2], call, program.instructions[3])
    program = replace(program, instructions=instructions, counts_results=counts_results)
    assert names(program, depth_first_order(program, "main")).split()[1] == first


def test_breadth_first_runs_what_became_ready_first():
    program = schedulable(*CHAINS)
    assert names(program, breadth_first_order(program, "main")) == (
        "parameter sin1 sin2 cos1 cos2 add"
    )
    assert rules_of(program) == [Rule.BREADTH_FIRST]


def test_breadth_first_may_run_the_users_of_one_instruction_in_any_order():
    parameter, sin1, sin2, cos1, cos2, add = CHAINS
    assert rules_of(schedulable(parameter, sin2, sin1, cos2, cos1, add)) == [Rule.BREADTH_FIRST]
    assert not rules_of(schedulable(parameter, sin2, sin1, cos1, cos2, add))


def test_an_order_with_a_missing_dependence_is_mostly_that_of_its_scheduler():
    chain = [(f"neg{number}", f"neg{number - 1}", 8) for number in range(2, 8)]
    late = schedulable(
        ("parameter", "", 8),
        ("neg1", "parameter", 8),
        *chain[:3],
        ("exp1", "parameter", 8),  # which a barrier kept back
        *chain[3:],
        ("exp2", "exp1", 8),
        ("add", "neg7 exp2", 8),
    )
    assert not rules_of(late)
    assert may_make_most(Rule.DEPTH_FIRST, late)
    assert not may_make_most(Rule.BREADTH_FIRST, late)


def test_the_list_runs_what_frees_most_bytes():
    program = schedulable(
        ("parameter", "", 8),
        ("broadcast1", "parameter", 64),
        ("broadcast2", "parameter", 64),
        ("reduce1", "broadcast1", 8),
        ("reduce2", "broadcast2", 8),
        ("add", "reduce1 reduce2", 8),
    )
    assert names(program, list_order(program, "main")) == (
        "parameter broadcast2 reduce2 broadcast1 reduce1 add"
    )


def test_the_list_may_run_what_became_ready_together_in_any_order():
    parameter, broadcast1, broadcast2 = (
        ("parameter", "", 8), ("broadcast1", "parameter", 64), ("broadcast2", "parameter", 64)
    )  # fmt: skip
    reduce1, reduce2 = ("reduce1", "broadcast1", 8), ("reduce2", "broadcast2", 8)
    add = ("add", "reduce1 reduce2", 8)
    for steps in (
        (parameter, broadcast2, reduce2, broadcast1, reduce1, add),
        (parameter, broadcast1, reduce1, broadcast2, reduce2, add),
    ):
        program = schedulable(*steps)
        assert Rule.LIST in rules_of(program)
        assert list_order(program, "main") == list(range(len(steps)))
    freed_late = schedulable(parameter, broadcast1, broadcast2, reduce2, reduce1, add)
    assert Rule.LIST not in rules_of(freed_late)


def test_the_list_runs_scalars_first():
    program = schedulable(
        ("parameter", "", 8),
        ("reduce1", "parameter", 8),
        ("reduce2", "parameter", 4),
        ("add", "reduce1 reduce2", 8),
    )
    assert names(program, list_order(program, "main")) == "parameter reduce2 reduce1 add"
