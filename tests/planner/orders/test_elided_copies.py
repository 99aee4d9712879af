"""Copies that a GPU's compiler drops, or adds, after it has ordered the instructions."""

from dataclasses import replace

import pytest

from tests.planner.orders.small_schedules import names, schedulable
from xlagraph.planner.orders.choice_of_three import THREE
from xlagraph.planner.orders.elided_copies import with_copies
from xlagraph.planner.orders.rules import Rule, may_make_all, order_of, rules_of

# `add` writes over the weights, which `dot2` reads
STEP = (
    ("parameter1", "", 64),
    ("parameter2", "", 8),
    ("neg", "parameter2", 8),
    ("dot1", "neg parameter1", 8),
    ("dot2", "dot1 parameter1", 128),
    ("add", "parameter1 dot1", 64),
    ("tuple", "add dot2", 16),
)


def donated(rows):
    """Return a program whose `add` has the bytes of the first parameter."""
    program = schedulable(*rows)
    weights = program.values[0].buffer_set
    writer = next(step for step, (name, _, _) in enumerate(rows) if name == "add")
    values = [
        value._replace(buffer_set=weights) if value.defined_at == writer else value
        for value in program.values
    ]
    return replace(program, values=tuple(values))


def test_the_copy_of_parameters_that_are_read_next_to_their_writer_orders_what_reads_them():
    program = donated(STEP)
    assert names(program, order_of(program, Rule.DEPTH_FIRST)["main"]) == (
        "parameter2 neg parameter1 dot1 dot2 add tuple"
    )
    copied = with_copies(program)
    assert names(copied, order_of(copied, Rule.DEPTH_FIRST)["main"]) == (
        "parameter1 parameter2 neg dot1 dot2 add tuple"
    )
    assert Rule.DEPTH_FIRST in rules_of(copied)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([*STEP[:5], ("add", "parameter1 dot2", 64), STEP[6]], id="ordered before it"),
        pytest.param([*STEP[:5], ("sub", "parameter1 dot1", 64), STEP[6]], id="not written over"),
    ],
)
def test_other_parameters_are_not_copied(rows):
    is_written_over = any(name == "add" for name, _, _ in rows)
    rows = [(name, read.replace("add", "sub") if not is_written_over else read, size)
            for name, read, size in rows]  # fmt: skip
    program = donated(rows) if is_written_over else schedulable(*rows)
    assert with_copies(program) is program


@pytest.mark.parametrize("rule", THREE)
def test_a_scheduler_may_have_made_its_own_order(rule):
    program = with_copies(donated(STEP))
    ordered = [STEP[step] for step in order_of(program, rule)["main"]]
    assert may_make_all(rule, with_copies(donated(ordered)))


@pytest.mark.parametrize(
    ("order", "is_added"),
    [
        ("x big small constant copy1 copy2 tuple1 while1 tuple2 add", True),
        ("constant copy1 copy2 x big small tuple1 while1 tuple2 add", False),
    ],
)
def test_one_copy_of_a_constant_may_have_been_added_for_several_loops(order, is_added):
    reads = {
        "x": ("", 8),
        "big": ("x", 64),
        "small": ("x", 8),
        "constant": ("", 4),
        "copy1": ("constant", 4),
        "copy2": ("copy1", 4),
        "tuple1": ("small copy2 big", 24),
        "while1": ("tuple1", 64),
        "tuple2": ("copy1 while1", 16),
        "add": ("tuple2", 8),
    }
    program = schedulable(*[(name, *reads[name]) for name in order.split()])
    copied = with_copies(program)
    assert [copied.instructions[step].name for step in copied.added] == ["copy1"] * is_added


def test_an_added_copy_that_waits_for_another_instruction_is_not_ordered():
    program = schedulable(
        ("x", "", 8),
        ("constant", "", 4),
        ("copy1", "constant", 4),
        ("copy2", "copy1", 4),
        ("add", "copy1 copy2 x", 8),
    )
    instructions = list(program.instructions)
    instructions[2] = instructions[2]._replace(control_predecessors=(0,))
    copied = with_copies(replace(program, instructions=tuple(instructions)))
    assert copied.as_ordered is None or copied.as_ordered.predecessor_count(2) == 0
    assert all(order_of(copied, rule)["main"] for rule in THREE)
