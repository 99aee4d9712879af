"""`advise` names differences of all pairs of rows, of which only sums are read."""

import pytest

from xlagraph.advice.causes.pair_differences import pair_differences
from xlagraph.planner.dimensions.stored_operations import operations_of_text

PAIRS = """
0 | x | f32[32,4]    | 0     | 512   | 0-4 | parameter(0)
1 | a | f32[32,32,4] | 0     | 16384 | 1-3 | broadcast(x)
1 | b | f32[32,32,4] | 16384 | 16384 | 2-3 | {other}(x) | jit(f)/sub @ f.py:3
1 | d | {made}       | 32768 | 16384 | 3-4 | fusion(a, b) | jit(f)/reduce_sum @ f.py:4
"""


@pytest.mark.parametrize(
    ("other", "made", "fused", "named"),
    [
        ("broadcast", "f32[32,32]", ("subtract", "reduce"), ["a", "b"]),
        pytest.param("tanh", "f32[32,32]", ("subtract", "reduce"), [], id="one mean of each row"),
        pytest.param("broadcast", "f32[32,32,4]", ("subtract", "reduce"), [], id="differences"),
        pytest.param("broadcast", "f32[32,32]", ("multiply", "reduce"), [], id="products"),
    ],
)
def test_repeated_rows_that_a_kernel_subtracts_and_sums_are_named(
    programs, other, made, fused, named
):
    program = programs(
        "0 | 512 | parameter 0, shape |f32[32,4]| at ShapeIndex {}\n1 | 49152 | preallocated-temp",
        PAIRS.format(other=other, made=made),
    )
    program.instructions["d"] = program.instructions["d"]._replace(fused_opcodes=fused)
    rows = [row for cause in pair_differences(program) for row in cause.rows]
    assert [row["value"] for row in rows] == named
    if named:
        assert rows[0]["reason"] == "for 1024 pairs of rows, of which f.py:4 reads only sums"


@pytest.mark.parametrize("loop", [None, "while.1"])
@pytest.mark.parametrize(
    ("fused", "named"),
    [(("subtract",), ["a"]), (("subtract", "divide"), ["a"]), (("multiply",), [])],
)
def test_stored_differences_are_named(programs, fused, named, loop):
    program = programs(
        """
        0 | 512 | parameter 0, shape |f32[32,4]| at ShapeIndex {}
        1 | 512 | parameter 1, shape |f32[32,4]| at ShapeIndex {}
        2 | 32768 | preallocated-temp
        """,
        """
        0 | x | f32[32,4]    | 0     | 512   | 0-4 | parameter(0)
        1 | y | f32[32,4]    | 0     | 512   | 0-4 | parameter(1)
        2 | a | f32[32,32,4] | 0     | 16384 | 1-3 | fusion(x, y)
        2 | d | f32[32,32]   | 16384 | 4096  | 2-3 | reduce(a) | jit(f)/reduce_sum @ f.py:4
        2 | g | f32[32,4]    | 20480 | 512   | 3-3 | reduce(a) | jit(f)/reduce_sum @ f.py:4
        """,
    )
    known = program.instructions["a"]._replace(fused_opcodes=("broadcast", *fused), loop=loop)
    program.instructions["a"] = known
    assert [row["value"] for cause in pair_differences(program) for row in cause.rows] == named


MODULE = """HloModule m

ENTRY e {{
  x = f32[32,16]{{1,0}} parameter(0)
  y = f32[32,16]{{1,0}} parameter(1)
  a = f32[32,32,16]{{2,1,0}} broadcast(x), dimensions={{0,2}}
  b = f32[32,32,16]{{2,1,0}} broadcast(y), dimensions={{{of_y}}}
  d = f32[32,32,16]{{2,1,0}} subtract(a, b)
  zero = f32[] constant(0)
  ROOT s = f32[32,32]{{1,0}} reduce(d, zero), dimensions={{2}}, to_apply=add
}}
"""


@pytest.mark.parametrize(
    ("of_y", "named"),
    [
        pytest.param("1,2", ["a", "b"], id="rows of 16 numbers"),
        pytest.param("0,1", [], id="pairs of 32 and 16 numbers"),
    ],
)
def test_rows_have_a_dimension_that_is_summed(programs, of_y, named):
    program = programs(
        """
        0 | 2048 | parameter 0, shape |f32[32,16]| at ShapeIndex {}
        1 | 2048 | parameter 1, shape |f32[32,16]| at ShapeIndex {}
        2 | 200000 | preallocated-temp
        """,
        """
        0 | x | f32[32,16]    | 0      | 2048  | 0-4 | parameter(0)
        1 | y | f32[32,16]    | 0      | 2048  | 0-4 | parameter(1)
        2 | a | f32[32,32,16] | 0      | 65536 | 1-3 | broadcast(x)
        2 | b | f32[32,32,16] | 65536  | 65536 | 2-3 | broadcast(y)
        2 | s | f32[32,32]    | 131072 | 4096  | 3-4 | fusion(a, b)
        """,
    )
    program.instructions["s"] = program.instructions["s"]._replace(
        fused_opcodes=("subtract", "reduce")
    )
    program.stored.operations = operations_of_text(MODULE.format(of_y=of_y))
    program.obstacle = None
    found = [row["value"] for cause in pair_differences(program) for row in cause.rows]
    assert found == named


@pytest.mark.parametrize(
    ("shape", "fused", "scope", "named"),
    [
        ("f32[32,32,4]", "subtract", "jvp()", ["a"]),
        pytest.param("f32[32,32,4]", "multiply", "jvp()", [], id="products"),
        pytest.param("f32[64,16,4]", "subtract", "jvp()", [], id="no pairs of rows"),
        pytest.param("f32[32,32,4]", "subtract", "transpose(jvp())", [], id="with a gradient"),
    ],
)
def test_differences_of_the_rows_of_one_array_are_named(programs, shape, fused, scope, named):
    program = programs(
        "0 | 512 | parameter 0, shape |f32[32,4]| at ShapeIndex {}\n1 | 36864 | preallocated-temp",
        f"""
        0 | x | f32[32,4]  | 0     | 512   | 0-3 | parameter(0)
        1 | a | {shape}    | 0     | 16384 | 1-3 | fusion(x)
        1 | d | f32[32,32] | 16384 | 4096  | 2-3 | reduce(a) | jit(f)/reduce_sum @ f.py:4
        1 | g | {shape}    | 20480 | 16384 | 3-3 | sine(x) | jit(f)/{scope}/mul
        """,
    )
    known = program.instructions["a"]._replace(fused_opcodes=("broadcast", fused))
    program.instructions["a"] = known
    assert [row["value"] for cause in pair_differences(program) for row in cause.rows] == named
