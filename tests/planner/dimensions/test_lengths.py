"""Lengths that change together."""

from fractions import Fraction

import pytest

from tests.planner.dimensions.test_following import halved
from xlagraph.planner.dimensions.lengths import Lengths


def test_two_factors_of_a_product_change_and_the_third_does_not():
    lengths = Lengths()
    batch, height, width, channels, whole = map(lengths.add, (2, 4, 6, 3, 144))
    lengths.products([batch, height, width, channels], [whole])
    found = lengths.scaled({height: Fraction(2), width: Fraction(3)}, ()).lengths
    assert batch not in found
    assert found[whole] == 36


PRODUCT = """%{0} (p: f32[4,2,6], q: f32[4,2,3]) -> f32[4,6,3] {{
  %p = f32[4,2,6]{{2,1,0}} parameter(0)
  %q = f32[4,2,3]{{2,1,0}} parameter(1)
  ROOT %d = f32[4,6,3]{{2,1,0}} dot(%p, %q), lhs_batch_dims={{0}}, lhs_contracting_dims={{1}}, @
   rhs_batch_dims={{0}}, rhs_contracting_dims={{1}}
}}

"""
PARTS = """
    %x = f32[8,6]{{1,0}} parameter(0)
    %w = f32[6,3]{{1,0}} parameter(1)
    %h = f32[8,3]{{1,0}} dot(%x, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
    %px = f32[4,2,6]{{2,1,0}} bitcast(%x)
    %ph = f32[4,2,3]{{2,1,0}} bitcast(%h)
    ROOT %parts = f32[4,6,3]{{2,1,0}} fusion(%px, %ph), kind=kCustom, calls=%{0}
"""


@pytest.mark.parametrize(
    ("name", "expected"), [("gemm_fusion_dot", (4, 6, 3)), ("fused_computation", (2, 6, 3))]
)
def test_a_product_that_the_gpu_compiler_splits_keeps_the_number_of_parts(name, expected):
    called = PRODUCT.format(name).replace("@\n  ", "")
    found = halved(PARTS.format(name), 0, called=called)
    assert found["h"] == (4, 3)
    assert found["parts"] == expected
