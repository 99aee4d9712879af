"""Which inputs a caller needs after a step that fuses gradients and updates, as a TPU does."""

import pytest

from xlagraph.advice.causes.unused_donations import needed_after_gradients
from xlagraph.planner.dimensions.stored_operations import operations_of_text

BLOCKS = """
    0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
    1 | 4096 | maybe-live-out
"""
VALUES = """
    0 | w   | f32[1024] | 0 | 4096 | 0-2 | parameter(0)
    1 | new | f32[1024] | 0 | 4096 | 1-2 | fusion(w) | jit(f)/transpose(jvp(dense))/dot_general
"""
MODULE = """HloModule m

c {{
  p = f32[1024]{{0}} parameter(0)
  g = f32[1024]{{0}} negate(p), metadata={{op_name="jit(f)/transpose(jvp(dense))/dot_general"}}
  ROOT r = f32[1024]{{0}} subtract(p, g), metadata={{op_name="{op_name}"}}
}}

ENTRY e {{
  w = f32[1024]{{0}} parameter(0)
  ROOT new = f32[1024]{{0}} fusion(w), kind=kOutput, calls=c
}}
"""


@pytest.mark.parametrize(
    ("op_name", "needed"),
    [
        pytest.param("jit(f)/adam/sub", set(), id="an update"),
        pytest.param("jit(f)/transpose(jvp(loss))/sub", {"w"}, id="a gradient with weight decay"),
    ],
)
def test_the_root_of_a_fusion_tells_an_update_from_a_gradient(returning, op_name, needed):
    program = returning(BLOCKS, VALUES, "new")
    program.stored.operations = operations_of_text(MODULE.format(op_name=op_name))
    assert needed_after_gradients(program) == needed
