"""Products of matrices that a TPU computes as convolutions: dimensions that halve together."""

import pytest

from tests.planner.dimensions.test_following import halved
from xlagraph.planner.dimensions.stored_operations import operations_of_text

EACH = """
    %x = f32[4,8,6]{2,1,0} parameter(0)
    %w = f32[4,6,3]{2,1,0} parameter(1)
    ROOT %y = f32[4,8,3]{2,1,0} convolution(%x, %w), @
    window={size=4 stride=3 lhs_dilate=4}, dim_labels=0bf_0io->0bf
"""
"""A batch of products: each matrix of x with one of w."""
ALL = """
    %w = f32[4,6,3]{2,1,0} parameter(0)
    %x = f32[8,6,1]{2,1,0} parameter(1)
    ROOT %y = f32[8,4,3]{2,1,0} convolution(%x, %w), @
    window={size=4 pad=3_3 rhs_reversal=1}, dim_labels=bf0_0io->b0f
"""
"""One matrix with several."""
SUMMED = """
    %x = f32[4,8,6]{2,1,0} parameter(0)
    %w = f32[4,6,3]{2,1,0} parameter(1)
    ROOT %y = f32[1,8,3]{2,1,0} convolution(%x, %w), window={size=4}, dim_labels=0bf_0io->0bf
"""
"""The sum of the products of a batch."""
FILTER = """
    %x = f32[4,8,6]{2,1,0} parameter(0)
    %w = f32[3,6,3]{2,1,0} parameter(1)
    ROOT %y = f32[4,8,3]{2,1,0} convolution(%x, %w), @
    window={size=3 pad=1_1}, dim_labels=0bf_0io->0bf
"""


@pytest.mark.parametrize(
    ("body", "expected", "has_window"),
    [
        pytest.param(EACH, {"w": (2, 6, 3), "y": (2, 8, 3)}, False, id="a batch"),
        pytest.param(ALL, {"x": (8, 6, 1), "y": (8, 2, 3)}, False, id="of one operand"),
        pytest.param(SUMMED, {"w": (2, 6, 3), "y": (1, 8, 3)}, False, id="contracted"),
        pytest.param(FILTER, {"w": (3, 6, 3), "y": (2, 8, 3)}, True, id="a filter"),
    ],
)
def test_a_dimension_of_a_product_is_that_of_its_operands(body, expected, has_window):
    found = halved(body, 0)
    assert {name: found[name] for name in expected} == expected
    lines = [line.strip() for line in body.replace("@\n", "").strip().splitlines()]
    joined = "\n  ".join(lines).replace("    window", "window")
    operations = operations_of_text(
        f"HloModule m\n\nENTRY %main (x: f32[]) -> f32[] {{\n  {joined}\n}}\n"
    )
    assert operations.by_name["y"].has_window == has_window
