"""The text of jaxlib 0.11 and later writes an element of a tuple without an instruction: `%t#0`."""

import pytest

from tests.hlo.test_rules_of_the_text import module
from xlagraph.hlo.overwriting import WrittenOutput, overwritable
from xlagraph.hlo.shapes import WHOLE, parse_shape


@pytest.mark.parametrize(("operand", "found"), [(0, True), (1, False)])
def test_elements_of_one_tuple_are_different_operands(operand, found):
    made = module(
        """
  %t = (f32[8]{0}, f32[8]{0}) parameter(0)
  ROOT %fusion = f32[8]{0} fusion(%t#0, %t#1), kind=kLoop, calls=%fused
""",
        (
            "%fused (p0: f32[8], p1: f32[8]) -> f32[8] {",
            """
  %p0 = f32[8]{0} parameter(0)
  %p1 = f32[8]{0} parameter(1)
  %r = f32[8]{0} reverse(%p1), dimensions={0}
  ROOT %s = f32[8]{0} add(%p0, %r)
""",
        ),
    )
    shape = parse_shape("f32[8]{0}")
    output = WrittenOutput(made.entry.root, WHOLE, shape)
    assert (overwritable(output, {operand: shape}, made, is_gpu=False) == [operand]) is found
