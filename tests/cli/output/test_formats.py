"""Rows in every format: complete and escaped, exact for programs and with units for people."""

import csv
import io
import json
from pathlib import Path

import pytest

from xlagraph.cli.output.formats import WRITERS, Format, write_object, write_whole_table
from xlagraph.cli.output.terminal import fitting_columns
from xlagraph.graph import Cell

COLUMNS = ("name", "sizeBytes", "steps", "ratio", "live", "tags")
ROWS: tuple[tuple[Cell, ...], ...] = (
    ("fusion.7", 1572864, 12, 1.5, True, ["a=b"]),
    ('odd|"name", é\x1b[31m\n`x`', None, None, None, False, []),
    (None, 0, -1, 0.25, None, ["a", "b"]),
)


def written(format_, columns=COLUMNS, rows=ROWS):
    stream = io.StringIO()
    WRITERS[format_](columns, rows, stream)
    return stream.getvalue()


def test_every_format_has_a_writer():
    assert set(WRITERS) == set(Format)


def test_json_is_one_array_of_objects_and_keeps_every_cell():
    expected = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    assert json.loads(written(Format.JSON)) == expected
    assert json.loads(written(Format.JSON, rows=())) == []
    assert [json.loads(line) for line in written(Format.NDJSON).splitlines()] == expected


def test_json_has_no_control_characters_for_a_terminal():
    text = written(Format.JSON, ("name",), [("\x7f\x9b31m\x1b[31m",)])
    assert text.isascii()
    assert not [sign for sign in text.replace("\n", "") if ord(sign) < 32 or ord(sign) == 127]
    assert json.loads(text) == [{"name": "\x7f\x9b31m\x1b[31m"}]
    stream = io.StringIO()
    write_object({"name": "\x7f\x9b31m"}, stream)
    assert stream.getvalue() == '{\n  "name": "\\u007f\\u009b31m"\n}\n'


def test_json_writes_null_for_what_is_not_a_number():
    nan = float("nan")
    cells: list[Cell] = [nan, [1, [nan]], {"x": -float("inf")}]
    rows = json.loads(written(Format.JSON, ("cell",), [(cell,) for cell in cells]))
    assert [row["cell"] for row in rows] == [None, [1, [None]], {"x": None}]


def test_csv_quotes_where_needed_and_distinguishes_null_from_the_name_null():
    heading, first, second, third = csv.reader(io.StringIO(written(Format.CSV)))
    assert tuple(heading) == COLUMNS
    assert first == ["fusion.7", "1572864", "12", "1.5", "true", '["a=b"]']
    assert second == [ROWS[1][0], "", "", "", "false", "[]"]
    assert third == ["null", "0", "-1", "0.25", "", '["a", "b"]']


def test_lists_in_csv_are_written_as_json():
    row: tuple[Cell, ...] = (["é", float("nan"), "\x9b"],)
    (line,) = list(csv.reader(io.StringIO(written(Format.CSV, ("list",), [row]))))[1:]
    assert line == ['["é", null, "\\u009b"]']


def test_md_is_a_table_and_no_cell_can_break_out_of_it():
    lines = written(Format.MD).splitlines()
    assert lines == [
        "| name | sizeBytes | steps | ratio | live | tags |",
        "| --- | ---: | ---: | ---: | --- | --- |",
        "| fusion.7 | 1.5 MiB | 12 | 1.5 | true | a=b |",
        '| odd\\|"name", é\\\\x1b[31m\\\\n\\`x\\` | null | null | null | false |  |',
        "| null | 0 B | -1 | 0.25 | null | a, b |",
    ]


def test_a_table_off_a_terminal_is_plain_and_not_cut():
    name = "jit(f)/" + "layer/" * 60
    lines = written(Format.TABLE, ("name", "bytesA"), [(name, 2048), ("x", 3)]).splitlines()
    assert lines[0].split() == ["name", "bytesA"]
    assert lines[2] == f"{name}  2.0 KiB"
    assert lines[3].split() == ["x", "3", "B"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def on_a_terminal(monkeypatch, width, columns, rows):
    monkeypatch.setenv("COLUMNS", str(width))
    stream = Terminal()
    write_whole_table(columns, rows, stream)
    return stream.getvalue().splitlines()


def test_a_table_too_wide_for_a_terminal_is_split_into_bands_with_numbered_rows(monkeypatch):
    columns = ("value", "sizeBytes", "shape", "opcode", "step")
    rows = [("fusion.7", 2048, "f32[512]", "fusion", 7), ("p", 64, "f32[16]", "parameter", 12)]
    assert on_a_terminal(monkeypatch, 33, columns, rows) == [
        "#  value     sizeBytes  shape",
        "-  --------  ---------  --------",
        "1  fusion.7    2.0 KiB  f32[512]",
        "2  p              64 B  f32[16]",
        "",
        "#  value     opcode     step",
        "-  --------  ---------  ----",
        "1  fusion.7  fusion        7",
        "2  p         parameter    12",
    ]


def shown_at(monkeypatch, width, columns):
    monkeypatch.setenv("COLUMNS", str(width))
    importance = ("value", "agrees", "sizeBytes", "userFile", "…", "offsetBytes")
    fit = fitting_columns(columns, [columns], Terminal(), importance)
    return [columns[index] for index in fit]


def test_the_most_important_columns_get_the_room_and_keep_their_order(monkeypatch):
    columns = ("value", "offsetBytes", "sizeBytes", "shape", "userFile", "userLine", "agrees")
    for width, shown in (
        (3, ["value"]),
        (13, ["value", "agrees"]),
        (24, ["value", "sizeBytes", "agrees"]),
        (43, ["value", "sizeBytes", "shape", "agrees"]),  # a file without its line is useless
        (44, ["value", "sizeBytes", "userFile", "userLine", "agrees"]),
        (51, ["value", "sizeBytes", "shape", "userFile", "userLine", "agrees"]),
        (64, list(columns)),
    ):
        assert shown_at(monkeypatch, width, columns) == shown


@pytest.mark.parametrize(
    ("columns", "cell", "shown"),
    [
        (
            ("opName", "sizeBytes"),
            "jit(train_step)/transpose(jvp(layer_0))/attention/add_any",
            ["jit(train_st…ttention/add_any        1 B"],
        ),
        (
            ("compilation", "sizeBytes"),  # they have the same ending
            "run/module_0064.jit_train_step.cpu_after_optimizations",
            ["run/module_0064.jit_train_step.cpu_after…        1 B"],
        ),
        (
            ("question", "sizeBytes"),
            "Which values " * 4,
            ["Which values Which values        1 B", "Which values Which values"],
        ),
    ],
)
def test_on_a_terminal_a_name_is_shortened_and_a_sentence_is_folded(
    monkeypatch, columns, cell, shown
):
    width = 52 if columns[0] == "compilation" else 40
    lines = on_a_terminal(monkeypatch, width, columns, [(cell, 1)])
    assert [" ".join(line.split()) for line in lines[2:]] == [
        " ".join(line.split()) for line in shown
    ]
    assert max(map(len, lines)) <= width


def test_wide_characters_count_as_two(monkeypatch):
    lines = on_a_terminal(monkeypatch, 80, ("name", "steps"), [("層", 1), ("layer", 2)])
    assert lines[2:] == ["層         1", "layer      2"]


def test_shares_are_percentages_for_people_only():
    columns, rows = ("unusedShare", "growthShare"), [(0.256, 0.5), (None, -0.00001)]
    assert written(Format.MD, columns, rows).splitlines()[2:] == [
        "| 25.6% | +50.0% |",
        "| null | 0.0% |",
    ]
    assert written(Format.CSV, columns, rows).splitlines()[1] == "0.256,0.5"


def test_a_table_escapes_control_characters_and_aligns_numbers_right():
    lines = written(Format.TABLE, ("value", "steps"), [("a\x1b[2Jb\u202e", 1), ("c", 100)])
    assert lines.splitlines() == [
        "value            steps",
        "---------------  -----",
        "a\\x1b[2Jb\\u202e      1",
        "c                  100",
    ]


def test_an_empty_table_still_names_its_columns():
    assert written(Format.TABLE, ("value", "steps"), ()).splitlines()[0] == "value  steps"
    assert written(Format.CSV, ("value", "steps"), ()) == "value,steps\n"


def test_columns_of_bytes_are_recognised_by_their_names():
    (line,) = written(
        Format.MD, ("bytesA", "peakBytes", "byteSteps", "steps"), [(1024, 1024, 1024, 1024)]
    ).splitlines()[2:]
    assert line == "| 1.0 KiB | 1.0 KiB | 1024 | 1024 |"


def test_columns_selects_and_orders_in_every_format(run, graph):
    ask = ("runs", "--columns", "compilations,run", "--format")
    assert run(*ask, "json").out == (
        '[\n  {"compilations": 2, "run": "after"},\n  {"compilations": 2, "run": "before"}\n]\n'
    )
    assert run(*ask, "ndjson").out.splitlines()[0] == '{"compilations": 2, "run": "after"}'
    assert run(*ask, "csv").out.splitlines()[:2] == ["compilations,run", "2,after"]
    assert run(*ask, "md").out.splitlines()[0] == "| compilations | run |"
    table = run(*ask, "table")
    assert table.out.splitlines()[0].split() == ["compilations", "run"]
    assert "not shown" not in table.err


@pytest.mark.parametrize(
    "command",
    [
        ("runs",),
        ("compilations",),
        ("schema",),
        ("query",),
        ("query", "peak/by-op"),
        ("query", "graph/peak"),
        ("cypher", "RETURN 1 AS one"),
        ("value", "p"),
        ("advise", "before"),
        ("whatif", "before"),
        ("whatif", "before", "--format", "json"),
        ("compare", "before", "after"),
        ("check",),
        ("check", "--capacity", "1GiB"),
        ("check", "--resident"),
        ("check", "--replay"),
    ],
    ids=" ".join,
)
def test_an_unknown_column_is_a_usage_error_that_lists_the_columns(run, graph, command):
    ended = run(*command, "--columns", "sice")
    assert ended.code == 2
    assert ended.out == ""
    assert "error: --columns expects some of " in ended.err
    assert "found 'sice'" in ended.err


def test_selected_columns_of_a_page_are_those_of_its_rows(run, graph):
    ended = run("compare", "before", "after", "--columns", "part,growthBytes", "--limit", 1)
    assert ended.out.splitlines()[0].split() == ["part", "growthBytes"]
    shown = run("whatif", "before", "--columns", "reservedBytes", "--format", "json").out
    assert json.loads(shown) == {"reservedBytes": 384}


def test_a_picture_has_no_columns_to_select(run, graph):
    ended = run("query", "graph/peak", "--format", "dot", "--columns", "source")
    assert ended.code == 2
    assert "draws a picture" in ended.err


NULLS = "UNWIND [1, 2] AS step RETURN step, null AS shape, null AS opName ORDER BY step"


def test_a_table_omits_columns_that_are_all_null_and_says_so(run, graph):
    ended = run("cypher", NULLS)
    assert ended.out.splitlines() == ["step", "----", "   1", "   2"]
    assert "hidden columns: shape, opName (all null); --wide shows all\n" in ended.err
    wide = run("cypher", NULLS, "--wide")
    assert wide.out.splitlines()[0].split() == ["step", "shape", "opName"]
    assert "not shown" not in wide.err


def test_machine_formats_have_every_column(run, graph):
    ended = run("cypher", NULLS, "--format", "csv")
    assert ended.out.splitlines()[0] == "step,shape,opName"
    assert "not shown" not in ended.err


def test_a_table_without_rows_or_cells_still_has_columns(run, graph):
    assert run("cypher", "RETURN null AS a").out.splitlines()[0] == "a"
    none = run("cypher", "UNWIND [1] AS a WITH a WHERE a > 1 RETURN a, null AS b")
    assert none.out.splitlines()[0].split() == ["a", "b"]


def test_output_replaces_the_whole_file_and_writes_nothing_to_stdout(run, graph):
    target = Path("rows.csv")
    target.write_text("old")
    target.chmod(0o600)
    ended = run("runs", "--format", "csv", "--output", target)
    assert ended.out == ""
    assert target.read_text().startswith("run,path,")
    assert target.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in Path.cwd().iterdir()] == ["rows.csv"]


def test_a_query_that_fails_leaves_the_old_output(run, graph):
    Path("rows.csv").write_text("old")
    assert run("cypher", "RETURN nothing AS x", "--output", "rows.csv").code == 1
    assert Path("rows.csv").read_text() == "old"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t"])
def test_csv_has_no_text_that_a_spreadsheet_would_run(sign):
    stream = io.StringIO()
    WRITERS[Format.CSV](("name", "bytes"), ((f"{sign}1+1", -5),), stream)
    assert stream.getvalue().startswith("name,bytes\n")
    assert f"'{sign}1+1" in stream.getvalue()
    assert stream.getvalue().endswith(",-5\n")
