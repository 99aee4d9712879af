"""`advise` names differences of all pairs of rows, of which only sums are read."""

import pytest

from xlagraph.advice.causes.pair_differences import pair_differences

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
@pytest.mark.parametrize(("fused", "named"), [("subtract", ["a"]), ("multiply", [])])
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
    known = program.instructions["a"]._replace(fused_opcodes=("broadcast", fused), loop=loop)
    program.instructions["a"] = known
    assert [row["value"] for cause in pair_differences(program) for row in cause.rows] == named


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
