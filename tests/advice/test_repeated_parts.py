"""`advise` names stacks in which a loop stores the same value in each iteration."""

import pytest

from tests.advice.small_compilations import share_one_buffer_set
from xlagraph.advice.causes.repeated_parts import is_repeated_part, repeated_parts

WRITING = ("bitcast", "constant", "dynamic-update-slice")


def looped(programs, *, written="w", fused=WRITING, writer_in="loop"):
    """Return a loop that writes a value made before it, or its state, into a stack of zeros."""
    program = programs(
        "0 | 4096 | preallocated-temp",
        f"""
        0 | w          | f32[64]   | 0    | 256  | 0-7 | parameter(0)
        0 | zeros      | f32[8,64] | 1024 | 2048 | 0-1 | broadcast()
        0 | z          | f32[8,64] | 1024 | 2048 | 1-7 | copy(zeros)
        0 | i          | s32[]     | 512  | 4    | 2-7 | constant()
        0 | p{{0}} (phi) | f32[64]   | 256  | 256  | 3-6 | parameter(0)
        0 | again      | f32[64]   | 256  | 256  | 4-6 | multiply(p{{0}})
        0 | copied     | f32[64]   | 3072 | 256  | 4-6 | copy(w)
        0 | s          | f32[8,64] | 1024 | 2048 | 5-7 | fusion(z, {written}, i)
        0 | loop{{1}}    | f32[8,64] | 1024 | 2048 | 6-7 | while(z) | while @ f.py:7
        0 | r          | f32[64]   | 3584 | 256  | 7-7 | fusion(loop{{1}})
        """,
    )
    share_one_buffer_set(program, "z", "s", "loop{1}")
    share_one_buffer_set(program, "p{0}", "again")
    known, values = program.instructions, program.compilation.values
    for name in ("p", "again", "copied"):
        known[name] = known[name]._replace(loop="loop")
    known["s"] = known["s"]._replace(loop=writer_in, fused_opcodes=fused)
    stack = program.by_label["s"]
    values[stack.value_id] = stack._replace(stack_loop="loop", stack_turns=8)
    return program


@pytest.mark.parametrize("written", ["w", "copied"])
def test_a_value_made_before_the_loop_is_the_same_in_each_iteration(programs, written):
    program = looped(programs, written=written)
    (cause,) = repeated_parts(program)
    assert cause.edit is not None
    assert cause.edit.arguments[1::2] == ("zeros", "z", "s", "loop{1}")
    (row,) = cause.rows
    assert (row["sizeBytes"], row["reason"]) == (
        2048,
        "the loop at f.py:7 stores the same value in all 8 iterations",
    )
    assert "tf.identity(variable)" in cause.remedies["tensorflow"]
    assert is_repeated_part(program, "loop{1}")
    assert not is_repeated_part(program, "w")


@pytest.mark.parametrize(
    "how",
    [
        {"written": "p{0}"},  # the state of the loop
        {"fused": (*WRITING, "multiply")},  # may scale it by the number of the iteration
        {"writer_in": None},  # written before the loop
        {"written": "i"},  # nothing but a place
    ],
)
def test_what_changes_is_not_named(programs, how):
    assert list(repeated_parts(looped(programs, **how))) == []
