"""Gradients of whole tables are named if few of their rows were read."""

from dataclasses import replace

import pytest

from xlagraph.advice.causes.table_gradients import dense_gradients
from xlagraph.planner.edits.resizing import Remove

TABLE = """
    0 | table | f32[64,16] | 0    | 4096 | 0-2 | parameter(0)
    1 | other | f32[{}]    | 0    | 4096 | 0-2 | parameter(1)
    2 | g     | f32[64,16] | 0    | 4096 | 1-2 | scatter(table) | jit(f)/transpose(jvp())/add
    3 | new   | f32[64,16] | 0    | 4096 | 2-3 | subtract({})
    2 | last  | f32[16]    | 0    | 64   | 3-3 | fusion({})
"""


@pytest.mark.parametrize(
    ("other", "read", "last", "named"),
    [
        pytest.param("1024", "table, g", "table", ["g"], id="update"),
        pytest.param("64,16", "table, g", "table", ["g"], id="another table"),
        pytest.param("64,16", "table, other, g", "table", [], id="state of its shape"),
        pytest.param("64,16", "other, g", "new", [], id="new state that is read"),
        pytest.param("1024", "g", "table", [], id="nodes of a graph"),
    ],
)
def test_a_dense_gradient_is_named_if_only_rows_of_a_table_are_updated(
    returning, other, read, last, named
):
    program = returning(
        f"""
        0 | 4096 | parameter 0, shape |f32[64,16]| at ShapeIndex {{}}
        1 | 4096 | parameter 1, shape |f32[{other}]| at ShapeIndex {{}}
        2 | 4096 | preallocated-temp
        3 | 4096 | maybe-live-out
        """,
        TABLE.format(other, read, last),
    )
    found = [row["value"] for cause in dense_gradients(program) for row in cause.rows]
    assert found == named


@pytest.mark.parametrize(("platform", "named"), [("cpu", []), ("gpu", ["g"])])
def test_a_cpu_converts_a_table_of_bf16_whose_rows_are_updated(returning, platform, named):
    program = returning(
        """
        0 | 2048 | parameter 0, shape |bf16[64,16]| at ShapeIndex {}
        1 | 4096 | preallocated-temp
        2 | 2048 | maybe-live-out
        """,
        """
        0 | table | bf16[64,16] | 0 | 2048 | 0-2 | parameter(0)
        1 | g     | f32[64,16]  | 0 | 4096 | 1-2 | scatter(table) | jit(f)/transpose(jvp())/add
        2 | new   | bf16[64,16] | 0 | 2048 | 2-3 | subtract(table, g)
        """,
    )
    program.compilation = replace(program.compilation, platform=platform)
    found = [row["value"] for cause in dense_gradients(program) for row in cause.rows]
    assert found == named


def test_two_gradients_of_one_table_are_named_after_the_table_that_both_update(returning):
    program = returning(
        """
        0 | 4096  | parameter 0, shape |f32[64,16]| at ShapeIndex {}
        1 | 4096  | parameter 1, shape |f32[64,16]| at ShapeIndex {}
        2 | 12288 | preallocated-temp
        3 | 4096  | maybe-live-out
        """,
        """
        0 | words  | f32[64,16] | 0    | 4096 | 0-3 | parameter(0)
        1 | others | f32[64,16] | 0    | 4096 | 0-3 | parameter(1)
        2 | zeros  | f32[64,16] | 0    | 4096 | 1-2 | broadcast()
        2 | g      | f32[64,16] | 0    | 4096 | 2-4 | fusion(zeros, others) | transpose(jvp())/add
        2 | h      | f32[64,16] | 4096 | 4096 | 3-4 | scatter(words)        | transpose(jvp())/add
        3 | new    | f32[64,16] | 0    | 4096 | 4-5 | subtract(words, g, h)
        2 | last   | f32[16]    | 0    | 64   | 5-5 | fusion(words, others)
        """,
    )
    known = program.instructions
    known["g"] = known["g"]._replace(fused_opcodes=("gather", "scatter"))
    known["last"] = known["last"]._replace(fused_opcodes=("gather",))
    rows = [row for cause in dense_gradients(program) for row in cause.rows]
    assert [row["value"] for row in rows] == ["g", "h"]
    assert {row["reason"] for row in rows} == {
        "a gradient of all rows of words, scattered from the rows that were read"
    }


def test_squares_of_a_dense_gradient_are_gone_with_it(returning):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[64,16]| at ShapeIndex {}
        1 | 8192 | preallocated-temp
        2 | 4096 | maybe-live-out
        """,
        """
        0 | table | f32[64,16] | 0    | 4096 | 0-4 | parameter(0)
        1 | g     | f32[64,16] | 0    | 4096 | 1-4 | scatter(table) | jit(f)/jit(main)/add_any
        1 | g2    | f32[64,16] | 4096 | 4096 | 2-3 | multiply(g, g)
        1 | norm  | f32[]      | 4096 | 4    | 3-4 | reduce(g2)
        2 | new   | f32[64,16] | 0    | 4096 | 4-4 | subtract(table, g, norm)
        """,
    )
    (cause,) = dense_gradients(program)
    assert [row["value"] for row in cause.rows] == ["g"]
    assert isinstance(cause.edit, Remove)
    assert set(cause.edit.patterns) == {"g", "g2"}


def test_a_dense_gradient_in_the_bytes_of_the_new_table_costs_nothing(returning):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[64,16]| at ShapeIndex {}
        1 | 4096 | maybe-live-out
        """,
        """
        0 | table | f32[64,16] | 0 | 4096 | 0-2 | parameter(0)
        1 | g     | f32[64,16] | 0 | 4096 | 1-2 | scatter(table) | jit(f)/transpose(jvp())/add
        1 | new   | f32[64,16] | 0 | 4096 | 3-3 | subtract(table, g)
        """,
        "new",
    )
    assert not list(dense_gradients(program))


@pytest.mark.parametrize(
    ("reader", "named"),
    [
        pytest.param("gather", ["g"], id="an average of the new table is kept"),
        pytest.param("fusion", [], id="a momentum, of which no rows are read"),
    ],
)
def test_a_new_table_may_be_read_whole_if_rows_of_the_old_one_were_gathered(
    returning, reader, named
):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[64,16]| at ShapeIndex {}
        1 | 4096 | parameter 1, shape |f32[64,16]| at ShapeIndex {}
        2 | 8192 | preallocated-temp
        3 | 4096 | maybe-live-out
        """,
        f"""
        0 | table | f32[64,16] | 0    | 4096 | 0-3 | parameter(0)
        1 | other | f32[64,16] | 0    | 4096 | 0-4 | parameter(1)
        2 | rows  | f32[16]    | 4096 | 64   | 0-1 | {reader}(table)
        2 | g     | f32[64,16] | 0    | 4096 | 1-2 | scatter(rows) | jit(f)/transpose(jvp())/add
        3 | new   | f32[64,16] | 0    | 4096 | 2-4 | subtract(table, g)
        2 | last  | f32[64,16] | 0    | 4096 | 3-4 | add(other, new)
        """,
    )
    found = [row["value"] for cause in dense_gradients(program) for row in cause.rows]
    assert found == named


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        pytest.param(8, ["g"], id="few rows of the table"),
        pytest.param(32, [], id="many rows"),
    ],
)
def test_a_dense_gradient_for_a_state_is_named_if_few_rows_are_read(returning, rows, named):
    program = returning(
        f"""
        0 | 4096 | parameter 0, shape |f32[64,16]| at ShapeIndex {{}}
        1 | 4096 | parameter 1, shape |f32[64,16]| at ShapeIndex {{}}
        2 | {4096 + 64 * rows} | preallocated-temp
        3 | 4096 | maybe-live-out
        4 | 4096 | maybe-live-out
        """,
        f"""
        0 | table | f32[64,16] | 0    | 4096 | 0-5 | parameter(0)
        1 | mu    | f32[64,16] | 0    | 4096 | 0-5 | parameter(1)
        2 | rows  | f32[{rows},16] | 4096 | {64 * rows} | 0-2 | gather(table)
        2 | g     | f32[64,16] | 0    | 4096 | 1-3 | scatter(rows) | jit(f)/transpose(jvp())/add
        3 | m     | f32[64,16] | 0    | 4096 | 3-5 | fusion(mu, g)
        4 | new   | f32[64,16] | 0    | 4096 | 4-5 | subtract(table, m)
        """,
        *("m", "new"),
    )
    found = [row["value"] for cause in dense_gradients(program) for row in cause.rows]
    assert found == named


def test_tables_whose_gradients_are_filled_with_zeros_together_are_one_finding(returning):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[64,16]| at ShapeIndex {}
        1 | 4096 | parameter 1, shape |f32[64,16]| at ShapeIndex {}
        2 | 8320 | preallocated-temp
        3 | 4096 | maybe-live-out
        4 | 4096 | maybe-live-out
        """,
        """
        0 | t0     | f32[64,16] | 0    | 4096 | 0-5 | parameter(0) | tables[0]
        1 | t1     | f32[64,16] | 0    | 4096 | 0-6 | parameter(1) | tables[1]
        2 | rows0  | f32[16]    | 8192 | 64   | 0-3 | gather(t0)
        2 | rows1  | f32[16]    | 8256 | 64   | 1-4 | gather(t1)
        2 | zeros0 | f32[64,16] | 0    | 4096 | 2-3 | fusion()
        2 | zeros1 | f32[64,16] | 4096 | 4096 | 2-4 | fusion()
        2 | g0 | f32[64,16] | 0    | 4096 | 3-5 | scatter(zeros0, rows0) | transpose(jvp())/add
        2 | g1 | f32[64,16] | 4096 | 4096 | 4-6 | scatter(zeros1, rows1) | transpose(jvp())/add
        3 | new0   | f32[64,16] | 0    | 4096 | 5-6 | subtract(t0, g0)
        4 | new1   | f32[64,16] | 0    | 4096 | 6-6 | subtract(t1, g1)
        """,
        *("new0", "new1"),
    )
    fused = ["broadcast", "constant", "tuple"]
    for name in ("zeros0", "zeros1"):
        program.instructions[name] = program.instructions[name]._replace(fused_opcodes=fused)
    sets = {program.by_label[f"zeros{row}"].value_id: row for row in (0, 1)}
    sets |= {program.by_label[f"g{row}"].value_id: row for row in (0, 1)}
    planned = [
        each._replace(buffer_set=1000 + sets[each.value_id]) if each.value_id in sets else each
        for each in program.program.values
    ]
    changed = replace(program.program, values=tuple(planned))
    program.compilation = replace(program.compilation, program=changed)
    (cause,) = dense_gradients(program)
    assert sorted(str(row["value"]) for row in cause.rows) == ["g0", "g1"]
    assert "tables[*]" in str(cause.rows[0]["reason"])
