"""`advise` names matrices that are stored whole for the product with themselves."""

import pytest

from xlagraph.advice.causes.gram_matrices import products_with_themselves
from xlagraph.planner.edits.resizing import ComputeInParts


@pytest.mark.parametrize(
    ("given", "product", "reader", "named"),
    [
        pytest.param(
            "f32[64,4]", "f32[4,4] | 0 | 64", "dot(z, v)", ["z"], id="and products with vectors"
        ),
        pytest.param("f32[64,4]", "f32[4,4] | 0 | 64", "negate(z)", [], id="values of each row"),
        pytest.param(
            "f32[64,4]", "f32[4,8] | 0 | 128", "dot(z, v)", [], id="a product with another matrix"
        ),
        pytest.param("f32[256]", "f32[4,4] | 0 | 64", "dot(z, v)", [], id="rows of no input"),
    ],
)
def test_a_tall_matrix_of_which_only_sums_over_the_rows_are_read_is_named(
    programs, given, product, reader, named
):
    length = 4 if reader.startswith("dot") else 64
    program = programs(
        f"""
        0 | 1024 | parameter 0, shape |{given}| at ShapeIndex {{}}
        1 | 8192 | preallocated-temp
        2 | 128  | maybe-live-out
        """,
        f"""
        0 | x | {given}  | 0    | 1024 | 0-5 | parameter(0)
        1 | y | f32[64,4]  | 0    | 1024 | 1-3 | multiply(x)
        1 | v | f32[64]    | 4096 | 256  | 2-5 | negate(x)
        1 | z | f32[64,4]  | 1024 | 1024 | 3-5 | cosine(y)
        2 | a | {product}  | 4-5  | dot(z, z) | jit(f)/dot_general @ f.py:9
        1 | b | f32[{length}] | 5120 | {4 * length} | 5-5 | {reader}
        """,
    )
    causes = list(products_with_themselves(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named
    for cause in causes:
        reason = "of its 64 rows f.py:9 reads only the product with itself, 4 × 4"
        assert cause.rows[0]["reason"] == reason
        assert isinstance(cause.edit, ComputeInParts)
        assert set(cause.edit.kept_by_label) == {"z", "y"}
