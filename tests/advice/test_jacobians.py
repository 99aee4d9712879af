"""`advise` names Jacobians that are stored although only products with vectors are read."""

import pytest

from xlagraph.advice.causes.jacobians import stored_jacobians
from xlagraph.planner.edits.resizing import Remove

OF_BASIS = "jit(f)/vmap(transpose(jvp()))"


def jacobian(program_of, product, shape="s8[64]", op_name="jit(f)/dot_general", basis=OF_BASIS):
    """A basis of 64 directions makes a matrix, whose transpose is multiplied."""
    return program_of(
        "0 | 64 | parameter 0, shape |s8[64]| at ShapeIndex {}\n1 | 16384 | preallocated-temp",
        f"""
        0 | x   | s8[64]    | 0     | 64   | 0-5 | parameter(0)
        1 | all | s8[64,64] | 0     | 4096 | 1-2 | multiply(x) | {basis}/mul
        1 | jac | s8[64,32] | 4096  | 2048 | 2-3 | dot(all)    | {basis}/dot_general
        1 | t   | s8[32,64] | 8192  | 2048 | 3-4 | transpose(jac)
        1 | out | {shape}   | 12288 | 1024 | 4-5 | {product}(t, x) | {op_name}
        """,
    )


def test_a_jacobian_of_which_only_products_are_read_is_removed_with_what_makes_it(programs):
    (cause,) = stored_jacobians(jacobian(programs, "dot"))
    assert [row["value"] for row in cause.rows] == ["jac"]
    assert isinstance(cause.edit, Remove)
    assert set(cause.edit.patterns) == {"all", "jac", "t"}


@pytest.mark.parametrize(
    "read",
    [
        pytest.param({"product": "custom-call"}, id="a factorization"),
        pytest.param({"product": "dot", "shape": "s8[32,32]"}, id="its square"),
        pytest.param({"product": "dot", "op_name": f"{OF_BASIS}/dot_general"}, id="inside"),
        pytest.param({"product": "dot", "basis": "jit(f)/vmap(jvp())"}, id="forward"),
        pytest.param(
            {"product": "dot", "basis": "jit(f)/jvp(vmap(transpose(jvp())))"}, id="outer gradient"
        ),
    ],
)
def test_a_jacobian_that_something_else_reads_is_needed(programs, read):
    assert list(stored_jacobians(jacobian(programs, **read))) == []
