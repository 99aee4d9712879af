"""`advise` names scores of all pairs of rows, of which only reductions are read."""

import pytest

from xlagraph.advice.causes.pair_scores import pair_scores
from xlagraph.planner.dimensions.stored_operations import operations_of_text

ROWS_AND_SCORES = """
0 | 1024 | parameter 0, shape |f32[64,4]| at ShapeIndex {}
1 | 65536 | preallocated-temp
"""


@pytest.mark.parametrize(
    ("reader", "made", "named"),
    [
        ("reduce(e)", "f32[64]", ["s", "e"]),
        pytest.param("dot(e, y)", "f32[64,4]", [], id="attention"),
        pytest.param("dot(e, y)", "f32[16,64,4]", [], id="parts of a product that a GPU adds"),
        pytest.param("negate(e)", "f32[64,64]", ["s", "e"], id="another value for the same sums"),
        pytest.param("slice(e)", "f32[32,64]", [], id="a part is needed next to the sums"),
        pytest.param("sort(e)", "f32[64,64]", [], id="an order is needed"),
    ],
)
def test_scores_of_which_the_forward_pass_reads_only_sums_are_named(programs, reader, made, named):
    program = programs(
        ROWS_AND_SCORES,
        f"""
        0 | x | f32[64,4]  | 0     | 1024  | 0-6 | parameter(0)
        1 | y | f32[64,4]  | 0     | 1024  | 1-6 | tanh(x)
        1 | s | f32[64,64] | 1024  | 16384 | 2-3 | dot(y, y)
        1 | e | f32[64,64] | 17408 | 16384 | 3-6 | exponential(s)
        1 | r | f32[64]    | 33792 | 256   | 4-6 | reduce(e) | jit(f)/jvp()/reduce_sum @ f.py:9
        1 | o | {made}     | 34048 | 16384 | 5-6 | {reader} | jit(f)/jvp()/o @ f.py:9
        1 | d | f32[64,4]  | 50432 | 1024  | 6-6 | dot(e, y) | jit(f)/transpose(jvp())/dot
        """,
    )
    (*causes,) = pair_scores(program)
    rows = [row for cause in causes for row in cause.rows]
    assert [row["value"] for row in rows if row["value"] != "o"] == named
    if named:
        assert rows[0]["reason"] == "of 64 × 64 pairs of rows, which f.py:9 only reduces"


CALL = """HloModule m

ENTRY %main (y: f32[64,4], b: f32[64,64]) -> f32[64,64] {
  %y = f32[64,4]{1,0} parameter(0)
  %b = f32[64,64]{1,0} parameter(1)
  ROOT %s = f32[64,64]{1,0} custom-call(OPERANDS), custom_call_target="a"
}
"""


@pytest.mark.parametrize(("operands", "is_named"), [("%y, %y, %b", True), ("%y, %b", False)])
def test_solutions_or_rows_of_as_many_elements_are_no_mask(programs, operands, is_named):
    # cuBLAS solves for `b`, or multiplies by keys that are as large; a bias comes third
    program = programs(
        ROWS_AND_SCORES,
        """
        0 | x | f32[64,4]  | 0     | 1024  | 0-5 | parameter(0)
        1 | y | f32[64,4]  | 0     | 1024  | 1-5 | tanh(x)
        1 | b | f32[64,64] | 17408 | 16384 | 2-3 | broadcast(y)
        1 | s | f32[64,64] | 1024  | 16384 | 3-5 | custom-call(y, b)
        1 | r | f32[64]    | 33792 | 256   | 4-5 | reduce(s) | jit(f)/jvp()/reduce_sum @ f.py:9
        """,
    )
    program.stored.operations = operations_of_text(CALL.replace("OPERANDS", operands))
    assert bool([*pair_scores(program)]) == is_named


@pytest.mark.parametrize(("taken", "is_named"), [("dynamic-slice", False), ("bitcast", True)])
def test_scores_of_which_a_loop_takes_a_row_in_each_iteration_have_another_cause(
    programs, taken, is_named
):
    program = programs(
        ROWS_AND_SCORES,
        """
        0 | x | f32[64,4]  | 0     | 1024  | 0-4 | parameter(0)
        1 | y | f32[64,4]  | 0     | 1024  | 1-4 | tanh(x)
        1 | s | f32[64,64] | 1024  | 16384 | 2-4 | dot(y, y)
        1 | r | f32[64]    | 33792 | 256   | 3-4 | fusion(s) | jit(f)/jvp()/reduce_sum @ f.py:9
        """,
    )
    reader = program.instructions["r"]._replace(loop="w", fused_opcodes=(taken, "reduce"))
    program.instructions |= {"r": reader}
    assert bool([*pair_scores(program)]) == is_named


def test_a_tpu_packs_the_indices_of_a_gather_and_scatters_into_a_flat_array(programs):
    program = programs(
        """
        0 | 1024 | parameter 0, shape |f32[64,4]| at ShapeIndex {}
        1 | 82944 | preallocated-temp
        """,
        """
        0 | x | f32[64,4]    | 0     | 1024  | 0-7 | parameter(0)
        1 | y | f32[64,4]    | 0     | 1024  | 1-7 | tanh(x)
        1 | s | f32[64,64]   | 1024  | 16384 | 2-5 | dot(y, y)
        1 | r | f32[64]      | 66560 | 256   | 3-7 | reduce(s) | jit(f)/jvp()/reduce_sum @ f.py:9
        1 | d | f32[64]      | 66816 | 256   | 4-7 | fusion(s) | jit(f)/jvp()/gather @ f.py:9
        1 | g | f32[64,64]   | 17408 | 16384 | 5-6 | exponential(s) | jit(f)/transpose(jvp())/exp
        1 | t | f32[8,8,8,8] | 33792 | 16384 | 6-7 | copy(g)
        1 | f | f32[4096]    | 50176 | 16384 | 7-8 | scatter(t) | jit(f)/transpose(jvp())/scatter
        """,
    )
    gathered = program.instructions["d"]._replace(fused_opcodes=("custom-call", "gather"))
    program.instructions |= {"d": gathered}
    (cause,) = pair_scores(program)
    assert {row["value"] for row in cause.rows} == {"s", "g", "t", "f"}


@pytest.mark.parametrize(
    ("rows", "table", "reduced", "is_named"),
    [
        ("y", "parameter(1)", "f32[64]", False),
        ("y", "copy(w)", "f32[64]", False),
        pytest.param("y", "parameter(1)", "s32[64]", True, id="the number of the nearest row"),
        pytest.param(
            "x", "copy(w)", "f32[64]", True, id="two inputs, as the points of a transport"
        ),
        pytest.param("x", "trained", "f32[64]", False, id="the first layer of a network"),
    ],
)
def test_a_product_with_a_table_is_made_of_pairs_only_for_numbers_of_rows(
    programs, rows, table, reduced, is_named
):
    scored = "2 | g | f32[64,64] | 1024 | 16384 | 4-4 | exp(s) | jit(f)/transpose(jvp())/exp"
    trained = scored if table == "trained" else ""
    operand = "w" if table.startswith("parameter") else "t"
    copied = "" if operand == "w" else "2 | t | f32[4,64] | 34048 | 1024 | 1-3 | copy(w)"
    program = programs(
        """
        0 | 1024 | parameter 0, shape |f32[64,4]| at ShapeIndex {}
        1 | 1024 | parameter 1, shape |f32[4,64]| at ShapeIndex {}
        2 | 65536 | preallocated-temp
        """,
        f"""
        0 | x | f32[64,4]  | 0     | 1024  | 0-4 | parameter(0)
        1 | w | f32[4,64]  | 0     | 1024  | 0-4 | parameter(1)
        {copied}
        2 | y | f32[64,4]  | 0     | 1024  | 1-4 | tanh(x)
        2 | s | f32[64,64] | 1024  | 16384 | 3-4 | dot({rows}, {operand})
        {trained}
        2 | r | {reduced} | 33792 | 256   | 4-4 | reduce(s) | jit(f)/jvp()/reduce_sum @ f.py:9
        """,
    )
    assert bool([*pair_scores(program)]) == is_named


@pytest.mark.parametrize(("other", "is_named"), [("t", True), ("w", False)])
def test_a_product_of_points_with_themselves_is_made_of_pairs_though_they_are_trained(
    programs, other, is_named
):
    program = programs(
        """
        0 | 1024 | parameter 0, shape |f32[64,4]| at ShapeIndex {}
        1 | 1024 | parameter 1, shape |f32[64,4]| at ShapeIndex {}
        2 | 65536 | preallocated-temp
        """,
        """
        0 | x | f32[64,4]  | 0     | 1024  | 0-4 | parameter(0)
        1 | w | f32[64,4]  | 0     | 1024  | 0-4 | parameter(1)
        2 | s | f32[64,64] | 1024  | 16384 | 2-4 | fusion(x, w) | jit(f)/jvp()/dot_general @ f.py:8
        2 | g | f32[64,64] | 17408 | 16384 | 4-4 | exp(s) | jit(f)/transpose(jvp())/exp
        2 | r | f32[64]    | 33792 | 256   | 3-4 | reduce(s) | jit(f)/jvp()/reduce_sum @ f.py:9
        """,
    )
    known = program.instructions["s"]
    program.instructions["s"] = known._replace(fused_opcodes=("parameter", "transpose", "dot"))
    program.stored.operations = operations_of_text(f"""HloModule m

c {{
  p = f32[64,4]{{1,0}} parameter(0)
  w = f32[64,4]{{1,0}} parameter(1)
  t = f32[4,64]{{1,0}} transpose(p), dimensions={{1,0}}
  ROOT d = f32[64,64]{{1,0}} dot(p, {other})
}}

ENTRY e {{
  x = f32[64,4]{{1,0}} parameter(0)
  w.1 = f32[64,4]{{1,0}} parameter(1)
  s = f32[64,64]{{1,0}} fusion(x, w.1), kind=kLoop, calls=c
}}
""")
    assert bool([*pair_scores(program)]) == is_named


@pytest.mark.parametrize(("read", "is_named"), [(8, False), (48, True)])
def test_a_product_of_which_a_small_part_is_read_has_no_scores_of_all_pairs(
    programs, read, is_named
):
    program = programs(
        ROWS_AND_SCORES,
        f"""
        0 | x | f32[64,4]  | 0     | 1024  | 0-4 | parameter(0)
        1 | y | f32[64,4]  | 0     | 1024  | 1-4 | tanh(x)
        1 | s | f32[64,64] | 1024  | 16384 | 2-3 | dot(y, y)
        1 | r | s32[{read}] | 33792 | 256   | 3-4 | fusion(s) | jit(f)/argmax @ f.py:9
        """,
    )
    made = program.instructions["r"]._replace(fused_opcodes=("slice", "reduce"))
    program.instructions |= {"r": made}
    program.stored.operations = operations_of_text(f"""HloModule m

c {{
  p = f32[64,64]{{1,0}} parameter(0)
  t = f32[{read},64]{{1,0}} slice(p), slice={{[0:{read}], [0:64]}}
  ROOT m = s32[{read}]{{0}} reduce(t, t), dimensions={{1}}, to_apply=max
}}

ENTRY e {{
  x = f32[64,4]{{1,0}} parameter(0)
  y = f32[64,4]{{1,0}} tanh(x)
  s = f32[64,64]{{1,0}} dot(y, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  ROOT r = s32[{read}]{{0}} fusion(s), kind=kLoop, calls=c
}}
""")
    assert bool([*pair_scores(program)]) == is_named
