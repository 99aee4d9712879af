"""Sums of exponentials of rows may be made in parts, with the dimensions of the rows."""

import pytest

from xlagraph.advice.causes.exponential_sums import is_of_rows


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("f32[2048]", True),
        ("f32[2048,8]", True),
        ("f32[4,8,512]", True),
        ("f32[16384]", True),
        ("f32[4096,100]", False),  # of a product with another matrix, by chance
    ],
)
def test_partial_results_have_the_dimensions_of_the_rows(programs, shape, expected):
    program = programs(
        "0 | 2097152 | preallocated-temp", f"0 | sums | {shape} | 0 | 1638400 | 0-1 | fusion()"
    )
    assert is_of_rows(program.by_label["sums"], 2048, 4096 * 2048) is expected
