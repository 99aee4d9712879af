"""`advise` names a checkpoint that recomputes several layers, or a whole loop, at once."""

from dataclasses import replace

import pytest

from tests.advice.small_compilations import compilation, facts, share_one_buffer_set, with_values
from tests.planner.small_programs import value
from xlagraph.advice.causes.wide_checkpoints import wide_checkpoints
from xlagraph.advice.changeable_rows import changeable_rows
from xlagraph.planner.compilation.without_checkpoints import as_first_computed
from xlagraph.planner.edits.recomputing import Recompute
from xlagraph.queries.catalogue.declarations import ChangeKind

BACKWARD = "jit(f)/transpose(jvp())/checkpoint/mul"
AGAIN = "jit(f)/transpose(jvp())/checkpoint/rematted_computation/tanh"
BLOCKS = """
0 | 2048 | parameter 0, shape |f32[512]| at ShapeIndex {}
1 | 16384 | preallocated-temp
"""
ALL_AT_ONCE = f"""
0 | x | f32[512]  | 0     | 2048 | 0-7 | parameter(0)
1 | a | f32[1024] | 0     | 4096 | 1-6 | tanh(x)   | {AGAIN} @ f.py:3
1 | b | f32[1024] | 4096  | 4096 | 2-5 | tanh(a)   | {AGAIN} @ f.py:3
1 | c | f32[1024] | 8192  | 4096 | 3-4 | tanh(b)   | {AGAIN} @ f.py:3
1 | d | f32[1024] | 12288 | 4096 | 4-5 | mul(c)    | {BACKWARD}
1 | e | f32[1024] | 8192  | 4096 | 5-6 | mul(b, d) | {BACKWARD}
1 | g | f32[1024] | 4096  | 4096 | 6-6 | mul(a, e) | {BACKWARD}
"""
ONE_AFTER_ANOTHER = f"""
0 | x | f32[512]  | 0     | 2048 | 0-8 | parameter(0)
1 | k | f32[1024] | 0     | 4096 | 1-4 | tanh(x)   | jit(f)/jvp()/tanh
1 | c | f32[1024] | 4096  | 4096 | 2-3 | tanh(k)   | {AGAIN} @ f.py:3
1 | d | f32[1024] | 8192  | 4096 | 3-5 | mul(c)    | {BACKWARD}
1 | b | f32[1024] | 4096  | 4096 | 4-5 | tanh(k)   | {AGAIN} @ f.py:3
1 | e | f32[1024] | 12288 | 4096 | 5-7 | mul(b, d) | {BACKWARD}
1 | a | f32[1024] | 4096  | 4096 | 6-7 | tanh(x)   | {AGAIN} @ f.py:3
1 | g | f32[1024] | 8192  | 4096 | 7-7 | mul(a, e) | {BACKWARD}
"""

ONE_OF_TWO_IS_LARGER = f"""
0 | x | f32[512]  | 0     | 2048 | 0-8 | parameter(0)
1 | k | f32[1024] | 0     | 4096 | 1-4 | tanh(x)   | jit(f)/jvp()/tanh
1 | b | f32[1024] | 4096  | 4096 | 2-5 | tanh(k)   | {AGAIN} @ f.py:3
1 | c | f32[1024] | 8192  | 4096 | 3-4 | tanh(b)   | {AGAIN} @ f.py:4
1 | d | f32[1024] | 12288 | 4096 | 4-5 | mul(c)    | {BACKWARD}
1 | e | f32[1024] | 0     | 4096 | 5-7 | mul(b, d) | {BACKWARD}
1 | a | f32[1024] | 4096  | 4096 | 6-7 | tanh(x)   | {AGAIN} @ f.py:3
1 | g | f32[1024] | 8192  | 4096 | 7-7 | mul(a, e) | {BACKWARD}
"""


def test_a_checkpoint_around_all_layers_recomputes_them_at_once(programs):
    (cause,) = wide_checkpoints(programs(BLOCKS, ALL_AT_ONCE))
    assert {row["value"] for row in cause.rows} == {"a", "b", "c"}
    assert cause.edit == Recompute(("a", "b", "c"), again=True)
    assert "jax.checkpoint(layer)" in cause.remedies["jax"]


@pytest.mark.parametrize("layers", [ONE_AFTER_ANOTHER, ONE_OF_TWO_IS_LARGER])
def test_checkpoints_around_each_layer_are_no_mistake(programs, layers):
    assert list(wide_checkpoints(programs(BLOCKS, layers))) == []


def test_checkpoints_whose_layers_share_a_value_are_not_one(programs):
    """Without barriers the compiler merges what each layer computes alike: here `s`."""
    program = programs(
        BLOCKS,
        f"""
        0 | x | f32[512]  | 0     | 2048 | 0-9 | parameter(0)
        1 | k | f32[512]  | 0     | 2048 | 1-4 | tanh(x)    | jit(f)/jvp()/tanh
        1 | s | f32[64]   | 2048  | 256  | 2-5 | tanh(x)    | {AGAIN} @ f.py:3
        1 | a | f32[1024] | 4096  | 4096 | 3-8 | mul(x, s)  | {AGAIN} @ f.py:3
        1 | b | f32[1024] | 8192  | 4096 | 4-7 | mul(k, s)  | {AGAIN} @ f.py:3
        1 | c | f32[1024] | 12288 | 4096 | 5-6 | mul(x, s)  | {AGAIN} @ f.py:3
        1 | d | f32[64]   | 0     | 256  | 6-7 | mul(c)     | {BACKWARD}
        1 | e | f32[64]   | 256   | 256  | 7-8 | mul(b, d)  | {BACKWARD}
        1 | g | f32[64]   | 512   | 256  | 8-8 | mul(a, e)  | {BACKWARD}
        """,
    )
    assert list(wide_checkpoints(program)) == []
    program.compilation = replace(program.compilation, platform="cpu")
    (cause,) = wide_checkpoints(program)
    assert cause.title.startswith("Checkpoints cover too much")
    assert "jax.checkpoint(attention)" in cause.remedies["jax"]


INNER = "jit(f)/transpose(jvp())/while/body"


@pytest.mark.parametrize("of_part", [True, False])
@pytest.mark.parametrize(
    ("again", "backward", "remedy"),
    [
        (AGAIN.replace("tanh", "while"), BACKWARD, "jax.lax.scan(jax.checkpoint(body)"),
        (f"{INNER}/jvp()/while", f"{INNER}/transpose(jvp())/mul", "the body of the inner loop"),
        (f"{INNER}/jvp()/while", "jit(f)/transpose(jvp())/mul", None),
    ],
    ids=["of a checkpoint", "of a gradient in the backward pass", "of the backward pass itself"],
)
def test_what_a_loop_stacks_when_it_is_recomputed_belongs_into_its_body(
    programs, of_part, again, backward, remedy
):
    element = "part" if of_part else "p"
    zeros = again if remedy else f"{INNER}/transpose(jvp())"
    program = programs(
        "0 | 16384 | preallocated-temp",
        f"""
        0 | z          | f32[8,512] | 0     | 16384 | 0-6 | broadcast() | {zeros}
        0 | p{{0}} (phi) | f32[512]   | 16384 | 0     | 1-3 | parameter(0)
        0 | part       | f32[512]   | 16384 | 0     | 2-3 | tanh(p{{0}}) | {again}/body/tanh
        0 | s          | f32[8,512] | 0     | 16384 | 3-6 | fusion(part) | {again}/body/write
        0 | w{{1}}       | f32[8,512] | 0     | 16384 | 4-6 | while(z) | {again} @ f.py:7
        0 | g          | f32[512]   | 16384 | 0     | 6-6 | fusion(w{{1}}) | {backward}
        """,
    )
    share_one_buffer_set(program, "z", "s", "w{1}")
    for name, loop in (("p", "w"), ("s", "w")):
        program.instructions[name] = program.instructions[name]._replace(loop=loop)
    values = program.compilation.values
    stack = program.by_label["s"]
    values[stack.value_id] = stack._replace(stack_loop="w", stack_turns=8, stack_element=element)
    inner = {program.by_label[label].value_id for label in ("s", "part")}
    with_values(
        program,
        [
            each._replace(
                is_in_entry=each.value_id not in inner,
                instruction="w" if values[each.value_id].opcode == "while" else each.instruction,
            )
            for each in program.program.values
        ],
    )
    causes = list(wide_checkpoints(program))
    # a stack of the carry stays with a checkpoint around the body, too
    named = ["z"] if of_part and remedy else []
    assert [row["value"] for cause in causes for row in cause.rows] == named
    assert all(remedy in cause.remedies["jax"] for cause in causes)


@pytest.mark.parametrize("covers_loss", [True, False])
def test_values_that_are_recomputed_already_are_recomputed_in_smaller_parts(covers_loss):
    """Without the loss in the checkpoint, the backward pass begins before they are recomputed."""
    values = [
        value(number, 2 + number, 10 - number, 64, reads=(number - 1,) if number else ())
        for number in range(4)
    ]
    backward = [value(4 + number, 10 - number, 10, 8, reads=(number,)) for number in range(4)]
    loss = [] if covers_loss else [value(8, 0, 1, 8), value(9, 1, 10, 8, reads=(8,))]
    known = [facts(number, "f32[16]", "tanh", AGAIN) for number in range(4)]
    gradients = [facts(4 + number, "f32[2]", "multiply", BACKWARD) for number in range(4)]
    of_loss = [facts(8, "f32[2]", "exp", "jit(f)/jvp()/exp"), facts(9, "f32[2]", "mul", BACKWARD)]
    facts_of_all = (*known, *gradients, *of_loss[: len(loss)])
    compiled = compilation((*values, *backward, *loss), facts_of_all)
    labels = ("v0", "v1", "v2", "v3")
    assert Recompute(labels).apply(compiled, compiled.program).program == compiled.program
    smaller = Recompute(labels, again=True).apply(compiled, compiled.program)
    assert smaller.recomputed_count == len(labels)
    assert _most_live_bytes(smaller.program) < _most_live_bytes(compiled.program)


def _most_live_bytes(program):
    return max(
        sum(each.size_bytes for each in program.values if each.live_from <= step <= each.live_until)
        for step in range(11)
    )


LATE = ChangeKind.LATE


def test_what_a_checkpoint_needs_for_its_own_backward_pass_is_not_recomputed_too_early(programs):
    rows = [{"value": each} for each in "abc"]
    assert changeable_rows(programs(BLOCKS, ALL_AT_ONCE), LATE, rows) == []


def test_what_waits_for_the_backward_pass_of_another_checkpoint_is_recomputed_too_early(programs):
    program = programs(
        BLOCKS,
        f"""
        0 | x | f32[512]  | 0     | 2048 | 0-6 | parameter(0)
        1 | k | f32[1024] | 0     | 4096 | 1-2 | tanh(x)   | jit(f)/jvp()/tanh
        1 | a | f32[1024] | 4096  | 4096 | 2-5 | tanh(x)   | {AGAIN} @ f.py:3
        1 | c | f32[1024] | 8192  | 4096 | 3-4 | tanh(k)   | {AGAIN} @ f.py:3
        1 | d | f32[1024] | 12288 | 4096 | 4-5 | mul(c)    | {BACKWARD}
        1 | g | f32[1024] | 0     | 4096 | 5-5 | mul(a, d) | {BACKWARD}
        """,
    )
    rows = [{"value": each} for each in "ac"]
    assert changeable_rows(program, LATE, rows) == [{"value": "a"}]


def test_all_stacks_of_a_recomputed_loop_belong_to_the_forward_pass():
    names = {0: AGAIN, 1: "jit(f)/transpose(jvp())/remat2", 2: BACKWARD}
    loops = {0: "w", 1: "w", 2: "b"}
    stored = {
        each: facts(each, "f32[8,16]", op_name=name, stack_loop=loops[each])
        for each, name in names.items()
    }
    found = as_first_computed(stored)
    assert [value.is_backward for value in found.values()] == [False, False, True]
