"""An edit of the values at the peak changes the same values elsewhere in the program."""

import pytest

from tests.advice.small_compilations import compilation, facts
from tests.planner.small_programs import value
from xlagraph.advice.edited_values import with_equal_ops

LAYER = "jvp(net)/layer_0/tanh"
OF_LOOP = f"jit(f)/while/body/closed_call/{LAYER}"


@pytest.mark.parametrize(
    ("platform", "found"), [("cpu", ("v0", "v2")), ("gpu", ("v0", "v1", "v2"))]
)
def test_a_checkpoint_of_an_op_is_one_in_the_loop_over_further_parts_of_a_batch(platform, found):
    planned = [value(each, each, 9, is_in_entry=each < 2) for each in range(4)]
    known = [
        facts(0, "f32[4]", op_name=f"jit(f)/{LAYER}"),
        facts(1, "f32[4]", op_name=f"jit(f)/{LAYER}"),
        facts(2, "f32[4]", op_name=OF_LOOP),
        facts(3, "f32[8]", op_name=OF_LOOP),
    ]
    assert with_equal_ops(compilation(planned, known, platform=platform), ["v0"]) == found
