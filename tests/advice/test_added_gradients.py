"""`advise` names gradients that wait to be added, if a loop could make them in turn."""

import pytest

from tests.advice.small_compilations import with_results
from xlagraph.advice.causes.added_gradients import added_gradients

ADDED = """
    0 | w | f32[4,8] | 0   | 128 | 0-7 | parameter(0)
    1 | x | f32[4,8] | 384 | 128 | 1-6 | fusion(w) | jit(f)/jvp()/tanh
    1 | y | f32[4,8] | 512 | 128 | 2-6 | fusion(w) | jit(f)/jvp()/{made}
    1 | a | f32[4,8] | 0   | 128 | 3-6 | {gradient}(x) | jit(f)/transpose(jvp())/dot
    1 | b | f32[4,8] | 128 | 128 | 4-6 | {gradient}(x) | jit(f)/transpose(jvp())/dot
    1 | c | f32[4,8] | 256 | 128 | 5-6 | {gradient}(y) | jit(f)/transpose(jvp())/dot
    2 | s | f32[4,8] | 0   | 128 | 6-7 | {opcode}(a, b, c) | jit(f)/{opcode} @ train.py:9
"""


@pytest.mark.parametrize(
    ("gradient", "opcode", "made", "named"),
    [
        ("dot", "add", "tanh", ["b", "c"]),
        ("dot", "concatenate", "tanh", []),
        pytest.param("pad", "add", "tanh", [], id="of parts of the parameter"),
        pytest.param(
            "dot", "add", "mul", [], id="of an outer gradient, which uses w in other ways too"
        ),
    ],
)
def test_gradients_that_wait_to_be_added_are_named_but_one(programs, gradient, opcode, made, named):
    program = programs(
        """
        0 | 128 | parameter 0, shape |f32[4,8]| at ShapeIndex {}
        1 | 640 | preallocated-temp
        2 | 128 | maybe-live-out
        """,
        ADDED.format(gradient=gradient, opcode=opcode, made=made),
    )
    with_results(program, "s")
    found = [row for cause in added_gradients(program) for row in cause.rows]
    assert [row["value"] for row in found] == named
    if named:
        assert str(found[0]["reason"]).endswith("all kept until train.py:9 adds them")
