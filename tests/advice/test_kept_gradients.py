"""`advise` names the gradients that a step of PyTorch returns because `.grad` still holds them."""

import pytest

from tests.advice.small_compilations import share_one_buffer_set
from xlagraph.advice.causes.boundaries import returned_gradients
from xlagraph.advice.causes.kept_gradients import kept_gradients
from xlagraph.advice.causes.returned_values import without_new_value
from xlagraph.planner.edits.resizing import Remove

PARTS = """
    0 | 4096 | parameter 0, shape |f32[32,32]| at ShapeIndex {}, maybe-live-out
    1 | 4096 | parameter 1, shape |f32[8,32]| at ShapeIndex {}
    2 | 4096 | maybe-live-out
    3 | 1024 | preallocated-temp
"""
STEP = """
    0 | w    | f32[32,32] | 0 | 4096 | 0-3 | parameter(0)     | xla__device_data
    1 | x    | f32[8,32]  | 0 | 1024 | 0-2 | parameter(1)     | xla__device_data
    3 | d    | f32[8,32]  | 0 | 1024 | 1-2 | fusion(x)        | {backward}
    2 | g    | f32[32,32] | 0 | 4096 | 2-4 | {made_of}        | aten__mm
    0 | new  | f32[32,32] | 0 | 4096 | 3-4 | subtract({read}) | aten__addcdiv
"""
BACKWARD = "aten___log_softmax_backward_data"


@pytest.mark.parametrize(
    ("backward", "made_of", "read", "found"),
    [
        pytest.param(BACKWARD, "dot(d, x)", "w, g", ["g"], id="gradient of an updated parameter"),
        pytest.param(BACKWARD, "add(d, w)", "w, g", [], id="state with the last gradient"),
        pytest.param(BACKWARD, "dot(d, x)", "w", [], id="no parameter is updated with it"),
        pytest.param("aten__relu", "dot(d, x)", "w, g", [], id="step without a backward pass"),
    ],
)
def test_a_gradient_updates_a_parameter_and_depends_on_none_of_its_size(
    returning, backward, made_of, read, found
):
    program = returning(
        PARTS, STEP.format(backward=backward, made_of=made_of, read=read), "new", "g"
    )
    assert [row["value"] for cause in kept_gradients(program) for row in cause.rows] == found
    assert not list(returned_gradients(program))


def test_a_gradient_in_the_bytes_of_a_donated_parameter_leaves_the_new_one_without(returning):
    step = STEP.format(backward=BACKWARD, made_of="dot(d, x)", read="w, g")
    program = returning(PARTS, step, "new", "g")
    share_one_buffer_set(program, "w", "g")
    (cause,) = kept_gradients(program)
    assert [row["value"] for row in cause.rows] == ["g"]
    assert cause.edit is not None
    assert [program.values[each].name for each in cause.edit.matched] == ["new"]


FROZEN = """
    0 | 4096  | parameter 0, shape |f32[32,32]| at ShapeIndex {}
    1 | 4096  | parameter 1, shape |f32[32,32]| at ShapeIndex {}
    2 | 1024  | parameter 2, shape |f32[8,32]| at ShapeIndex {}
    3 | 4096  | maybe-live-out
    4 | 4096  | maybe-live-out
    5 | 20480 | preallocated-temp
"""
GENERATOR = """
    0 | w | f32[32,32] | 0     | 4096 | 0-9 | parameter(0)   | xla__device_data
    1 | v | f32[32,32] | 0     | 4096 | 0-9 | parameter(1)   | xla__device_data
    2 | x | f32[8,32]  | 0     | 1024 | 0-9 | parameter(2)   | xla__device_data
    5 | h | f32[8,32]  | 0     | 1024 | 1-6 | dot(x, v)      | aten__mm
    5 | t | f32[32,32] | 4096  | 4096 | 2-3 | transpose(w)   | aten__permute
    5 | y | f32[8,32]  | 1024  | 1024 | 3-4 | dot(h, t)      | aten__mm
    5 | d | f32[8,32]  | 2048  | 1024 | 4-7 | fusion(y)      | {backward}
    5 | p | f32[32,32] | 8192  | 4096 | 5-8 | dot({read})    | aten__mm
    5 | q | f32[32,32] | 12288 | 4096 | 6-8 | dot(d, x)      | aten__mm
    3 | n | f32[32,32] | 0     | 4096 | 7-9 | {update}       | aten__addcdiv
    4 | g | f32[32,32] | 0     | 4096 | 8-9 | transpose(p)   | aten__permute
"""


@pytest.mark.parametrize(
    ("backward", "read", "update", "found"),
    [
        pytest.param(BACKWARD, "d, h", "subtract(v, q)", ["g"], id="gradient of a factor"),
        pytest.param(BACKWARD, "d, d", "subtract(v, q)", [], id="no factor of w's product"),
        pytest.param("aten__relu", "d, h", "subtract(v, q)", [], id="no backward pass"),
        pytest.param(BACKWARD, "d, h", "multiply(x, q)", [], id="added up for a later step"),
    ],
)
def test_the_gradient_of_a_parameter_that_is_not_updated_need_not_be_computed(
    returning, backward, read, update, found
):
    lines = GENERATOR.format(backward=backward, read=read, update=update)
    causes = list(kept_gradients(returning(FROZEN, lines, "n", "g")))
    assert [row["value"] for cause in causes for row in cause.rows] == found
    assert all(isinstance(cause.edit, Remove) for cause in causes)


def test_pytorch_donates_no_parameter_to_a_gradient_of_its_shape(returning):
    lines = GENERATOR.format(backward=BACKWARD, read="d, h", update="subtract(v, q)")
    assert without_new_value(returning(FROZEN, lines, "n", "g")) == {"w", "x"}
