"""`advise` tells states, which the caller passes again, from other results."""

from dataclasses import replace

import pytest

from xlagraph.advice.causes.returned_values import returned_forward_values, unchanged_inputs
from xlagraph.planner.compilation.records import StoredReturn

STEP = """
    0 | w    | f32[512]   | 0 | 2048 | 0-5 | parameter(0)
    1 | was  | f32[256]   | 0 | 1024 | 0-5 | parameter(1)
    2 | next | f32[1,256] | 0 | 1024 | 1-5 | multiply(was) | jit(f)/jvp()/mul
    3 | g    | f32[512]   | 0 | 2048 | 2-4 | multiply(next) | jit(f)/transpose(jvp())/mul
    4 | new  | f32[512]   | 0 | 2048 | 3-5 | subtract(w, g) | jit(f)/sub
"""
BLOCKS = """
    0 | 2048 | parameter 0, shape |f32[512]| at ShapeIndex {}
    1 | 1024 | parameter 1, shape |f32[256]| at ShapeIndex {}
    2 | 1024 | maybe-live-out
    3 | 2048 | preallocated-temp
    4 | 2048 | maybe-live-out
"""


@pytest.mark.parametrize(("shape", "named"), [("f32[256]{0}", []), ("f32[16,16]{1,0}", ["next"])])
def test_a_state_is_known_by_the_shape_in_which_it_is_returned(returning, shape, named):
    program = returning(BLOCKS, STEP, "next", "new")
    value_id = program.by_label["next"].value_id
    program.compilation = replace(
        program.compilation,
        returned=(StoredReturn(value_id, "results", "{0}", "tuple", "main"),),
        result_shape=f"({shape}, f32[512]{{0}})",
    )
    rows = [row["value"] for cause in returned_forward_values(program) for row in cause.rows]
    assert rows == named


@pytest.mark.parametrize(
    ("name", "remedy"), [("model.states[0][3]", "nnx.jit"), ("states[0]", "Do not return it")]
)
def test_nnx_jit_returns_the_states_of_modules_so_that_callers_cannot_leave_them_out(
    returning, name, remedy
):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | maybe-live-out
        """,
        f"""
        0 | w   | f32[1024] | 0 | 4096 | 0-1 | parameter(0) | {name}
        1 | out | f32[1024] | 0 | 4096 | 1-1 | copy(w)
        """,
        "out",
    )
    (cause,) = unchanged_inputs(program)
    assert cause.remedies["jax"].startswith(remedy)
