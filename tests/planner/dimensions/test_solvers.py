"""Dimensions followed through solvers and factorizations of LAPACK and cuBLAS."""

import pytest

from tests.planner.dimensions.test_following import halved


@pytest.mark.parametrize(
    ("body", "dimension", "expected"),
    [
        pytest.param(
            """
            %x = f32[4,8]{1,0} parameter(0)
            %l = f32[8,8]{1,0} parameter(1)
            %b = f32[8,4]{1,0} transpose(%x), dimensions={1,0}
            ROOT %s = f32[8,4]{0,1} custom-call(%l, %b), custom_call_target="lapack_strsm_ffi", @
             output_to_operand_aliasing={{}: (1, {})}
            """,
            0,
            {"l": (8, 8), "b": (8, 2), "s": (8, 2)},
            id="a solver writes its results over as many right sides",
        ),
        pytest.param(
            """
            %x = f32[2,4,4]{2,1,0} parameter(0)
            ROOT %lu = (f32[2,4,4]{2,1,0}, s32[2,4]{1,0}, s32[2]{0}) custom-call(%x), @
             custom_call_target="lapack_sgetrf_ffi", output_to_operand_aliasing={{0}: (0, {})}
            """,
            0,
            {"lu": [(1, 4, 4), (1, 4), (1,)]},
            id="a factorization writes its results over as many matrices",
        ),
        pytest.param(
            """
            %x = f32[3,4,2]{2,1,0} parameter(0)
            %l = f32[2,8,8]{2,1,0} parameter(1)
            %y = f32[3,4,2,8]{3,2,1,0} broadcast(%x), dimensions={0,1,2}
            %t = f32[2,8,3,4]{3,2,1,0} transpose(%y), dimensions={2,3,0,1}
            %r = f32[2,8,12]{2,1,0} reshape(%t)
            ROOT %s = (f32[2,8,12]{2,1,0}, s8[9]{0}) custom-call(%l, %r), @
             custom_call_target="__cublas$triangularSolve"
            """,
            1,
            {"r": (2, 8, 6), "s": [(2, 8, 6), (9,)]},
            id="a solver of cuBLAS returns as many right sides",
        ),
    ],
)
def test_half_of_a_dimension_of_matrices_or_right_sides(body, dimension, expected):
    found = halved(body, dimension)
    assert {name: found[name] for name in expected} == expected
