"""Stacks that loops keep for the backward pass, and the part that a checkpoint keeps."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.advice.small_compilations import compilation, facts
from tests.planner.small_programs import value
from xlagraph.planner.edits.edit import replan
from xlagraph.planner.edits.effect_sentences import why_nothing_is_saved
from xlagraph.planner.edits.loop_stacks import loop_stacks, stacks_of
from xlagraph.planner.edits.recomputing import Recompute

FORWARD, BACKWARD = "jit(f)/jvp()/while", "jit(f)/transpose(jvp())/while"


def compiled_loop(stacked=True, called=False, reads_carry=True, layer=4):
    """A loop of 10 turns that carries f32[1], makes f32[4] of it by a dot, and stacks bf16[8].

    The stack is widened between the loops.
    """
    loop = {"instruction": "loop"}
    dots_in = "called" if called else "body"
    values = (
        value(0, 0, 2, 160, buffer_set=0),
        value(1, 2, 6, 160, buffer_set=0, is_in_entry=False, computation="body", reads=(4,)),
        value(2, 6, 7, 160, buffer_set=0, **loop),
        value(3, 2, 7, 4, buffer_set=3, **loop),
        value(4, 3, 6, 16, is_in_entry=False, computation=dots_in, reads=(8,) * reads_carry),
        value(5, 7, 12, 320, reads=(2,)),
        value(6, 8, 11, 32, is_in_entry=False, computation="back", reads=(5, 3)),
        value(8, 2, 6, 4, buffer_set=3, is_in_entry=False, computation="body"),
        value(9, 1, 13, layer),
    )
    known = (
        facts(0, "bf16[10,8]{1,0}", "broadcast", FORWARD),
        facts(1, "bf16[10,8]{1,0}", "fusion", FORWARD, stack_loop="loop" if stacked else None),
        facts(2, "bf16[10,8]{1,0}", "while", FORWARD),
        facts(3, "f32[1]{0}", "while", FORWARD),
        facts(4, "f32[4]{0}", "dot", FORWARD + "/body/dot_general"),
        facts(5, "f32[10,8]{1,0}", "convert", FORWARD),
        facts(6, "f32[8]{0}", "fusion", BACKWARD + "/body/mul"),
        facts(8, "f32[1]{0}", "parameter", FORWARD + "/body"),
        facts(9, f"f32[{layer // 4}]{{0}}", "dot", "jit(f)/jvp()/dot_general"),
    )
    return compilation(values, known, platform="cpu", key="run/a")


def test_a_stack_is_removed_with_its_wider_copy():
    compiled = compiled_loop()
    for named in (1, 5):
        (stacks,) = loop_stacks(compiled, compiled.program, {named})
        assert stacks.value_ids == {0, 1, 2, 5}


@pytest.mark.parametrize(("op_name", "count"), [(BACKWARD, 1), (BACKWARD + "/mul", 0)])
def test_a_stack_is_removed_with_what_a_gpu_makes_of_it_for_the_loop_that_reads_it(op_name, count):
    compiled = compiled_loop()
    values = [
        each._replace(computation="main")
        if each.instruction == "loop" or each.value_id == 5
        else each
        for each in compiled.program.values
    ]
    program = replace(compiled.program, values=tuple(values))
    known = {**compiled.values, 5: facts(5, "f32[8,10]{1,0}", "fusion", op_name)}
    changed = replace(compiled, values=known, program=program)
    assert len(list(loop_stacks(changed, program, {2}))) == count


@pytest.mark.parametrize(("op_name", "count"), [(BACKWARD, 1), (FORWARD, 0)])
def test_a_stack_that_another_forward_loop_reads_is_not_kept_for_the_backward_pass(op_name, count):
    compiled = compiled_loop()
    reader = value(7, 8, 9, 32, is_in_entry=False, computation="next", reads=(5,))
    program = replace(compiled.program, values=(*compiled.program.values, reader))
    known = {**compiled.values, 7: facts(7, "f32[8]{0}", "dot", op_name + "/body/dot_general")}
    readers = {**compiled.readers, 5: (6, 7)}
    changed = replace(compiled, values=known, program=program, readers=readers)
    assert len(list(loop_stacks(changed, program, {2}))) == count


@pytest.mark.parametrize("called", [False, True])
def test_a_checkpoint_keeps_the_inputs_of_a_turn_and_recomputes_one_turn(called):
    compiled = compiled_loop(called=called)
    (stacks,) = loop_stacks(compiled, compiled.program, {5})
    assert stacks.kept_at_least == Fraction(10 * 4 - 16, 160)
    assert stacks.kept_at_most == Fraction(10 * 4 + 16, 160)


def test_a_checkpoint_does_not_keep_a_carry_that_only_adds_up_what_it_recomputes():
    compiled = compiled_loop(reads_carry=False)
    (stacks,) = loop_stacks(compiled, compiled.program, {5})
    assert stacks.kept_at_least == 0
    assert stacks.kept_at_most == Fraction(16, 160)


@pytest.mark.parametrize("is_filled", [True, False])
def test_a_checkpoint_keeps_no_stack_that_the_loop_returns(is_filled):
    """An inner loop may read all that is carried, but a checkpoint stacks no stack."""
    compiled = compiled_loop()
    returned = value(10, 2, 13, 8, buffer_set=10, instruction="loop", lives_out=True)
    part = value(11, 4, 6, 8, buffer_set=10, is_in_entry=False, computation="body", lives_out=True)
    known = compiled.values | {
        4: facts(4, "f32[4]{0}", "while", FORWARD + "/body/while"),
        10: facts(10, "f32[10,4]{1,0}", "while", FORWARD),
        11: facts(
            11, "f32[10,4]{1,0}", "fusion", FORWARD, stack_loop="loop" if is_filled else None
        ),
    }
    program = replace(compiled.program, values=(*compiled.program.values, returned, part))
    compiled = replace(compiled, program=program, values=known)
    (stacks,) = loop_stacks(compiled, program, {5})
    assert stacks.kept_at_least == Fraction(10 * (4 if is_filled else 4 + 8) - 16, 160)


def test_a_value_that_no_loop_fills_is_not_a_stack():
    compiled = compiled_loop(stacked=False)
    assert list(loop_stacks(compiled, compiled.program, {1, 5})) == []


@pytest.mark.parametrize("stacked", [True, False])
def test_a_writer_collects_a_value_of_a_row_only_where_it_fills_a_stack(stacked):
    compiled = compiled_loop(stacked=stacked)
    bias = value(7, 3, 6, 16, is_in_entry=False, computation="body")
    values = [
        each._replace(reads=(0, 7)) if each.value_id == 1 else each
        for each in compiled.program.values
    ]
    compiled = replace(
        compiled,
        program=replace(compiled.program, values=(*values, bias)),
        values=compiled.values | {7: facts(7, "bf16[8]{0}", "fusion", FORWARD + "/body/add")},
        readers=compiled.readers | {7: (1,)},
    )
    assert stacks_of(compiled, compiled.program, {7}) == ({1} if stacked else set())


@pytest.mark.parametrize(("computation", "is_kept"), [("main", True), ("back", False)])
def test_a_stack_that_is_read_next_to_its_loop_is_needed_without_the_backward_pass(
    computation, is_kept
):
    compiled = compiled_loop()
    values = [
        each._replace(computation="main") if each.instruction == "loop" else each
        for each in compiled.program.values
    ]
    reader = value(7, 12, 13, 4, reads=(2,), computation=computation)
    compiled = replace(
        compiled,
        program=replace(compiled.program, values=(*values, reader)),
        values=compiled.values | {7: facts(7, "f32[]", "reduce", "jit(f)/jvp()/reduce_sum")},
        readers=compiled.readers | {2: (*compiled.readers[2], 7)},
    )
    assert (not list(loop_stacks(compiled, compiled.program, {5}))) == is_kept


def test_a_value_that_another_edit_has_added_reads_no_stack():
    compiled = compiled_loop()
    values = [
        each._replace(computation="main") if each.instruction == "loop" else each
        for each in compiled.program.values
    ]
    added = value(10, 8, 12, 4, computation="main")
    program = replace(compiled.program, values=(*values, added))
    assert len(list(loop_stacks(compiled, program, {5}))) == 1


def test_an_edit_that_changes_no_value_keeps_as_many_bytes():
    """A checkpoint does, if the inputs of all iterations are as large as the stacks."""
    why = why_nothing_is_saved(replan(compiled_loop()), ())
    assert why == "what it has to keep takes as many bytes"


def test_a_checkpoint_shrinks_stacks_and_belongs_to_loops():
    compiled = compiled_loop()
    found = Recompute(("v5",)).apply(compiled, compiled.program)
    assert found.is_of_loops
    assert found.program.by_id[5].size_bytes == 320 * 3 // 20
    assert found.most is not None
    assert found.most.by_id[5].size_bytes == 320 * 7 // 20


@pytest.mark.parametrize(("layer", "is_of_loops"), [(3200, True), (4000, False)])
def test_the_stacks_of_a_small_loop_do_not_show_what_a_checkpoint_saves(layer, is_of_loops):
    compiled = compiled_loop(layer=layer)
    assert Recompute(("v5", "v9")).is_shown_by_stacks(compiled) is is_of_loops
