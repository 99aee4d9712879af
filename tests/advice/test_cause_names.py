"""Causes name what those who wrote the program know: lines and op names, not instructions."""

import pytest

from xlagraph.advice.causes.names import input_name, place_name

OPS = "/opt/site-packages/tensorflow/python/framework/ops.py:12"
PROGRAM = """
0 | arg0.1 | f32[4,4] | 0 | 64 | 0-4 | parameter(0) | XLA_Args
0 | arg1.1 | f32[4,4] | 64 | 64 | 0-4 | parameter(1)
1 | a | f32[4,4] | 0   | 64 | 1-4 | dot(arg0.1)  | dense/MatMul @ {ops}
1 | b | f32[4,4] | 64  | 64 | 2-4 | negate(a)    | jit(f)/neg @ f.py:3
1 | c | f32[4,4] | 128 | 64 | 3-4 | add(arg1.1)
"""


@pytest.fixture
def program(programs):
    return programs("0 | 128 | parameter 0\n1 | 192 | preallocated-temp", PROGRAM.format(ops=OPS))


def test_an_instruction_has_the_name_of_its_line_or_of_its_op(program):
    assert [place_name(program, each) for each in "abc"] == ["dense/MatMul", "f.py:3", "c"]


def test_an_input_whose_name_all_have_is_told_by_its_shape(program):
    values = {each.label: each for each in program.values.values()}
    assert [input_name(values[each]) for each in ("arg0.1", "arg1.1")] == [
        "input f32[4,4]",
        "arg1.1",
    ]
