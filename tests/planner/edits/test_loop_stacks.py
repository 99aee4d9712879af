"""Stacks that loops keep for the backward pass, and the part that a checkpoint keeps."""

from fractions import Fraction

import pytest

from tests.planner.small_programs import program, value
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.value_facts import ValueFacts
from xlagraph.planner.edits.checkpoint import recompute
from xlagraph.planner.edits.loop_stacks import loop_stacks

FORWARD, BACKWARD = "jit(f)/jvp()/while", "jit(f)/transpose(jvp())/while"
FILL = FORWARD + "/body/dynamic_update_slice"


def facts(value_id, shape, opcode, op_name, computation="main"):
    return ValueFacts(
        value_id=value_id,
        label=f"v{value_id}",
        shape=shape,
        dtype=None,
        opcode=opcode,
        op_name=op_name,
        own_op_name=op_name,
        is_stacked=False,
        source_lines=(),
        live_until=None,
        last_use=None,
        needed_until=None,
        color=0,
        parameter=None,
        computation=computation,
    )


def compiled_loop(stacked=True, called=False):
    """A loop of 10 turns that carries f32[1], makes f32[4] by a dot, and stacks bf16[8].

    The stack is widened between the loops.
    """
    loop = {"instruction": "loop"}
    dots_in = "called" if called else "body"
    values = program(
        value(0, 0, 2, 160, buffer_set=0),
        value(1, 2, 6, 160, buffer_set=0, is_in_entry=False),
        value(2, 6, 7, 160, buffer_set=0, **loop),
        value(3, 2, 7, 4, buffer_set=3, **loop),
        value(4, 3, 6, 16, is_in_entry=False, reads=(3,)),
        value(5, 7, 12, 320, reads=(2,)),
        value(6, 8, 11, 32, is_in_entry=False, reads=(5, 3)),
    )
    known = (
        facts(0, "bf16[10,8]{1,0}", "broadcast", FORWARD),
        facts(1, "bf16[10,8]{1,0}", "fusion", FILL if stacked else FORWARD, "body"),
        facts(2, "bf16[10,8]{1,0}", "while", FORWARD),
        facts(3, "f32[1]{0}", "while", FORWARD),
        facts(4, "f32[4]{0}", "dot", FORWARD + "/body/dot_general", dots_in),
        facts(5, "f32[10,8]{1,0}", "convert", FORWARD),
        facts(6, "f32[8]{0}", "fusion", BACKWARD + "/body/mul", "back"),
    )
    return PlannableCompilation(
        "run/a",
        "cpu",
        values,
        {each.value_id: each for each in known},
        (),
        {2: (5,), 3: (4, 6), 5: (6,)},
        has_buffer_sets=True,
        has_ranges=True,
        reserved_bytes={0: 512},
        space_names={},
    )


def test_a_stack_is_removed_with_its_wider_copy():
    compiled = compiled_loop()
    for named in (1, 5):
        (stacks,) = loop_stacks(compiled, compiled.program, {named})
        assert stacks.value_ids == {0, 1, 2, 5}


@pytest.mark.parametrize("called", [False, True])
def test_a_checkpoint_keeps_the_inputs_of_a_turn_and_at_most_its_dots_and_one_turn(called):
    compiled = compiled_loop(called=called)
    (stacks,) = loop_stacks(compiled, compiled.program, {5})
    assert stacks.kept_at_least == Fraction(10 * 4 - 16, 160)
    # the dot is f32, and would be stacked as bf16 like the others
    assert stacks.kept_at_most == Fraction(10 * 4 + 10 * 4 * 2 + 16, 160)


def test_a_value_that_no_loop_fills_is_not_a_stack():
    compiled = compiled_loop(stacked=False)
    assert list(loop_stacks(compiled, compiled.program, {1, 5})) == []


def test_a_checkpoint_shrinks_stacks_and_belongs_to_loops():
    compiled = compiled_loop()
    found = recompute(compiled, compiled.program, {5})
    assert found.is_of_loops
    assert found.least.by_id[5].size_bytes == 320 * 3 // 20
    assert found.most.by_id[5].size_bytes == 320 * 17 // 20
