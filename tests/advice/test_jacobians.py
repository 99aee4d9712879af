"""`advise` names Jacobians that are stored although only products with vectors are read."""

import pytest

from xlagraph.advice.causes.jacobians import derivatives_at_once, stored_jacobians
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.planner.edits.resizing import Remove

IDENTITY = """%{0} () -> s8[64,64] {{
  %i.{0} = s32[{1},{1}]{{1,0}} iota(), iota_dimension=0
  %j.{0} = s32[{1},{1}]{{1,0}} iota(), iota_dimension=1
  %c.{0} = pred[{1},{1}]{{1,0}} compare(%i.{0}, %j.{0}), direction=EQ, {2}
  ROOT %f.{0} = s8[64,64]{{1,0}} convert(%c.{0})
}}

"""
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


@pytest.mark.parametrize(("source", "named"), [("x", ["jac"]), ("all", [])])
def test_a_jacobian_that_is_computed_again_for_another_reader_is_needed(programs, source, named):
    # a CPU fuses the gradients of each example with their transposition, and again with nothing
    program = programs(
        "0 | 64 | parameter 0, shape |s8[64]| at ShapeIndex {}\n1 | 16384 | preallocated-temp",
        f"""
        0 | x     | s8[64]    | 0     | 64   | 0-6 | parameter(0)
        1 | all   | s8[64,64] | 0     | 4096 | 1-3 | multiply(x)   | {OF_BASIS}/mul
        1 | jac   | s8[64,32] | 4096  | 2048 | 2-5 | fusion(all)   | {OF_BASIS}/transpose
        1 | alike | s8[64,32] | 8192  | 2048 | 3-4 | fusion({source}) | {OF_BASIS}/transpose
        1 | norms | s8[64]    | 12288 | 64   | 4-6 | reduce(alike) | jit(f)/vmap()/reduce_sum
        1 | out   | s8[32]    | 12352 | 32   | 5-6 | dot(jac, x)   | jit(f)/dot_general
        """,
    )
    found = [row["value"] for cause in stored_jacobians(program) for row in cause.rows]
    assert found == named


@pytest.mark.parametrize(
    ("op", "factor", "last", "named"),
    [
        pytest.param("vmap(jvp())", "lapack_sgetrf_ffi", "lapack_strsm_ffi", ["jac"], id="solved"),
        pytest.param("vmap()", "lapack_sgetrf_ffi", "lapack_strsm_ffi", ["jac"], id="mapped last"),
        pytest.param("vmap(jvp())", "lapack_sgetrf_ffi", "diagonal", [], id="a determinant"),
        pytest.param("vmap(jvp())", "permute", "lapack_strsm_ffi", [], id="no factorization"),
    ],
)
def test_a_jacobian_that_is_factored_to_solve_for_a_vector_is_removed(
    programs, op, factor, last, named
):
    program = programs(
        "0 | 64 | parameter 0, shape |s8[64]| at ShapeIndex {}\n1 | 20480 | preallocated-temp",
        f"""
        0 | x   | s8[64]    | 0     | 64   | 0-5 | parameter(0)
        1 | eye | s8[64,64] | 0     | 4096 | 1-2 | fusion()         | jit(f)/eye
        1 | tan | s8[64,16] | 4096  | 1024 | 2-3 | dot(eye)         | jit(f)/vmap(jvp())/dot
        1 | jac | s8[64,64] | 8192  | 4096 | 3-4 | dot(tan)         | jit(f)/{op}/transpose
        1 | lu  | s8[64,64] | 12288 | 4096 | 4-5 | custom-call(jac) | jit(f)/lu
        1 | out | s8[64]    | 16384 | 64   | 5-5 | custom-call(lu, x) | jit(f)/triangular_solve
        """,
    )
    known = program.instructions
    known["eye"] = known["eye"]._replace(fused_opcodes=("compare", "convert", "iota"))
    known["lu"] = known["lu"]._replace(target=factor)
    known["out"] = known["out"]._replace(target=last)
    program.stored.operations = operations_of_text(
        "HloModule jit_f\n"
        + IDENTITY.format("eyes", 64, 'metadata={op_name="jit(f)/eq"}')
        + """ENTRY %main () -> s8[64,64] {
  ROOT %eye = s8[64,64]{1,0} fusion(), kind=kLoop, calls=%eyes
}
"""
    )
    causes = list(stored_jacobians(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named
    assert all(
        isinstance(cause.edit, Remove) and set(cause.edit.patterns) == {"eye", "tan", "jac", "lu"}
        for cause in causes
    )


@pytest.mark.parametrize(
    ("compared", "op", "made", "named"),
    [
        pytest.param("i, j", "vmap(jvp())", "", ["tan", "all"], id="an identity matrix"),
        pytest.param("i, j", "jvp(vmap(jvp()))", "jvp()/", ["tan", "all"], id="derived again"),
        pytest.param("i, j", "vmap(jvp())", "vmap(jvp())/", [], id="K + eye of the function"),
        pytest.param("i, j", "vmap(jvp(jvp()))", "jvp(jit(_diag))/", [], id="a diagonal of it"),
        pytest.param("p, j", "vmap(jvp())", "", [], id="a one-hot matrix of labels"),
        pytest.param("i, j", "vmap()", "", [], id="no derivatives"),
    ],
)
def test_derivatives_in_all_directions_depend_on_an_identity_matrix(
    programs, compared, op, made, named
):
    read = "x" if "p" in compared else ""
    program = programs(
        "0 | 64 | parameter 0, shape |s32[64]| at ShapeIndex {}\n1 | 16384 | preallocated-temp",
        f"""
        0 | x   | s32[64]   | 0     | 64   | 0-5 | parameter(0)
        1 | eye | s8[64,64] | 0     | 4096 | 1-2 | fusion({read}) | jit(f)/eye
        1 | all | s8[64,64] | 4096  | 4096 | 2-3 | multiply(eye) | jit(f)/{op}/mul @ f.py:4
        1 | tan | s8[64,128] | 8192 | 8192 | 3-4 | sine(all)     | jit(f)/{op}/sin @ f.py:5
        1 | jac | s8[32,64] | 0     | 2048 | 4-5 | dot(tan)      | jit(f)/{op}/dot_general
        1 | out | s8[64]    | 4096  | 64   | 5-5 | dot(jac, x)   | jit(f)/dot_general
        """,
    )
    fused = ("compare", "convert", "iota")
    program.instructions["eye"] = program.instructions["eye"]._replace(fused_opcodes=fused)
    program.stored.operations = operations_of_text(f"""HloModule jit_f
%compared (p: s32[64,64]) -> s8[64,64] {{
  %p = s32[64,64]{{1,0}} parameter(0)
  %i = s32[64,64]{{1,0}} iota(), iota_dimension=0
  %j = s32[64,64]{{1,0}} iota(), iota_dimension=1
  %c = pred[64,64]{{1,0}} compare({", ".join("%" + each for each in compared.split(", "))}), direction=EQ, metadata={{op_name="jit(f)/{made}eq"}}
  ROOT %f = s8[64,64]{{1,0}} convert(%c)
}}

ENTRY %main (x: s32[64,64]) -> s8[64,64] {{
  %x = s32[64,64]{{1,0}} parameter(0)
  ROOT %eye = s8[64,64]{{1,0}} fusion(%x), kind=kLoop, calls=%compared
}}
""")  # noqa: E501
    causes = list(derivatives_at_once(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named


def test_second_derivatives_whose_last_op_is_mapped_only_are_those_of_a_hessian(programs):
    op = "jit(f)/vmap(jvp(transpose(jvp())))"
    program = programs(
        "0 | 64 | parameter 0, shape |s32[64]| at ShapeIndex {}\n1 | 12288 | preallocated-temp",
        f"""
        0 | x   | s32[64]    | 0    | 64   | 0-5 | parameter(0)
        1 | eye | s8[64,64]  | 0    | 4096 | 1-2 | fusion()   | jit(f)/eye
        1 | all | s8[64,128] | 4096 | 8192 | 2-3 | dot(eye)   | {op}/mul @ f.py:4
        1 | hes | s8[64,64]  | 0    | 4096 | 3-4 | dot(all)   | jit(f)/vmap()/transpose
        1 | out | s8[64]     | 4096 | 64   | 4-5 | dot(hes, x) | jit(f)/dot_general
        """,
    )
    program.instructions["eye"] = program.instructions["eye"]._replace(
        fused_opcodes=("compare", "convert", "iota")
    )
    program.stored.operations = operations_of_text(
        "HloModule jit_f\n"
        + IDENTITY.format("eyes", 64, 'metadata={op_name="jit(f)/eq"}')
        + """ENTRY %main () -> s8[64,64] {
  ROOT %eye = s8[64,64]{1,0} fusion(), kind=kLoop, calls=%eyes
}
"""
    )
    (cause,) = derivatives_at_once(program)
    assert [row["value"] for row in cause.rows] == ["all"]
    assert "econd derivatives" in cause.title


def test_a_hessian_is_named_once_for_both_of_its_dimensions(programs):
    program = programs(
        "0 | 64 | parameter 0, shape |s32[64]| at ShapeIndex {}\n1 | 40960 | preallocated-temp",
        """
        0 | x   | s32[64]      | 0     | 64    | 0-5 | parameter(0)
        1 | eye | s8[64,64]    | 0     | 4096  | 1-4 | fusion() | jit(f)/eye
        1 | eyf | s8[64,64]    | 4096  | 4096  | 2-4 | fusion() | jit(f)/eye
        1 | tan | s8[64,64,8]  | 8192  | 32768 | 3-4 | dot(eye, eyf) | jit(f)/vmap(jvp())/dot
        1 | hes | s8[64,8]     | 0     | 512   | 4-5 | reduce(tan)   | jit(f)/vmap(jvp())/sum
        1 | out | s8[64]       | 4096  | 64    | 5-5 | dot(hes, x)   | jit(f)/dot_general
        """,
    )
    fused = ("compare", "convert", "iota")
    for name in ("eye", "eyf"):
        program.instructions[name] = program.instructions[name]._replace(fused_opcodes=fused)
    named = 'metadata={op_name="jit(f)/eq"}'
    program.stored.operations = operations_of_text(
        "HloModule jit_f\n"
        + IDENTITY.format("a", 64, named)
        + IDENTITY.format("b", 8, named)
        + """ENTRY %main () -> s8[64,64] {
  %eye = s8[64,64]{1,0} fusion(), kind=kLoop, calls=%a
  ROOT %eyf = s8[64,64]{1,0} fusion(), kind=kLoop, calls=%b
}
"""
    )
    causes = list(derivatives_at_once(program))
    assert [[row["value"] for row in cause.rows] for cause in causes] == [["tan"]]
