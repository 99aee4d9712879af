"""The output of `compare` for people and for scripts: one pair, and one against many."""

import json

import pytest

from tests.tiny_dumps import dump, write_dump
from xlagraph.cli.output.formats import escape_markdown
from xlagraph.queries import By


@pytest.fixture
def renumbered(run, tmp_path):
    """Return a graph with runs a and b: jit_f grows and is renumbered, jit_g is unchanged."""
    write_dump(tmp_path / "runs" / "a", 1, "jit_f", dump(256))
    write_dump(tmp_path / "runs" / "a", 2, "jit_g", dump(128))
    write_dump(tmp_path / "runs" / "b", 7, "jit_f", dump(512).replace('op_name="jit(f)/sum" ', ""))
    write_dump(tmp_path / "runs" / "b", 9, "jit_g", dump(128))
    path = tmp_path / "renumbered.lbug"
    assert run("ingest", tmp_path / "runs", "--graph", path).code == 0
    return path


def test_a_page_shows_where_memory_grew_by_how_much_and_because_of_which_line(run, graph):
    assert (
        run("compare", "before", "after").out
        == """\
before → after: reserved bytes grow by 192 B (+30.0%), from 640 B to 832 B, summed over 2 programs

- 1 value has 2 times as many elements, such as f32[64] → f32[128] (mostly f.py:5): +256 B
    xlagraph compare before after --by value
- 1 compilation only in before (jit_g), 1 compilation only in after (jit_h): -64 B
    xlagraph query compare/modules --run-a before --run-b after

Totals
measure       bytesA  bytesB  growthBytes  growthShare
------------  ------  ------  -----------  -----------
reserved       640 B   832 B        192 B       +30.0%
logicalPeak    640 B   832 B        192 B       +30.0%
physicalPeak   640 B   832 B        192 B       +30.0%
allocation     640 B   832 B        192 B       +30.0%

By compilation: reserved bytes; 0 of 1 pairs are equal, 1 only in before, 1 only in after
compilation                                                 bytesA  bytesB  growthBytes
----------------------------------------------------------  ------  ------  -----------
module_0001.jit_f.cpu_after_optimizations                    384 B   640 B        256 B
module_0003.jit_g.cpu_after_optimizations (only in before)   256 B     0 B       -256 B
module_0005.jit_h.cpu_after_optimizations (only in after)      0 B   192 B        192 B

By cause: reserved bytes, 640 B → 832 B
cause                 bytesA  bytesB  growthBytes
--------------------  ------  ------  -----------
live at the peak       384 B   576 B        192 B
  f.py:5 layer_0/dot   384 B   576 B        192 B
inputs                 128 B   128 B          0 B
outputs                128 B   128 B          0 B

By role: allocated bytes, 640 B → 832 B
role             bytesA  bytesB  growthBytes
---------------  ------  ------  -----------
temp              384 B   576 B        192 B
everything else   256 B   256 B          0 B

By op: bytes at the physical peak, 640 B → 832 B
opName              bytesA  bytesB  growthBytes
------------------  ------  ------  -----------
jit(f)/layer_0/dot   384 B   576 B        192 B
everything else      256 B   256 B          0 B

By line: bytes at the physical peak, 640 B → 832 B
line             bytesA  bytesB  growthBytes
---------------  ------  ------  -----------
f.py:5            384 B   576 B        192 B
everything else   256 B   256 B          0 B
"""
    )


def test_unchanged_parts_are_summed_and_chosen_names_are_shown(run, renumbered):
    shown = run("compare", "a", "b", "--graph", renumbered).out
    sections = {part.partition("\n")[0]: part for part in shown.split("\n\n")}
    compilations = sections["By compilation: reserved bytes; 1 of 2 pairs are equal"]
    assert compilations.splitlines()[3:] == [
        "module_0001 → module_0007.jit_f.cpu_after_optimizations   384 B   640 B        256 B",
        "everything else                                           256 B   256 B          0 B",
    ]
    by_op = sections["By op: bytes at the physical peak, 640 B → 896 B"]
    assert [line.rsplit(maxsplit=6)[0] for line in by_op.splitlines()[3:]] == [
        "jit(f)/layer_0/dot",
        "null",
        "jit(f)/sum",
        "everything else",
    ]
    by_line = sections["By line: bytes at the physical peak, 640 B → 896 B"]
    assert [line.split("  ")[0] for line in by_line.splitlines()[3:]] == [
        "f.py:5",
        "null",  # a line is matched by the op of its instruction, which has lost its name
        "f.py:7",
    ]


def test_two_equal_runs_show_no_growth(run, graph):
    shown = run("compare", "before", "before").out
    assert "reserved bytes stay at 640 B" in shown
    assert shown.count("; nothing changed\n") == 3
    assert "f.py" not in shown


def test_the_growth_of_an_unknown_peak_is_unknown_and_noted(run, tmp_path):
    text = dump(256)
    write_dump(tmp_path / "runs" / "a", 1, "jit_f", text[: text.index("HloLiveRange")])
    write_dump(tmp_path / "runs" / "b", 1, "jit_f", dump(512))
    graph = tmp_path / "g.lbug"
    run("ingest", tmp_path / "runs", "--graph", graph)
    ended = run("compare", "a", "b", "--graph", graph, "--format", "json")
    totals = {row["name"]: row for row in json.loads(ended.out) if row["part"] == "total"}
    assert totals["physicalPeak"]["bytesA"] is None
    assert totals["physicalPeak"]["growthBytes"] is None
    assert "a: 1 of 1 compilations have no live ranges" in ended.err


def test_one_against_many_has_a_row_for_each(run, graph):
    ended = run("compare", "before", "after", "before", "jit_h", "--format", "json")
    found = json.loads(ended.out)
    assert [(row["a"], row["b"].partition("/")[0], row["growthBytes"]) for row in found] == [
        ("before", "after", 192),
        ("before", "before", 0),
        ("before", "after", -448),
    ]
    assert found[0] == {
        "a": "before", "b": "after",
        "reservedBytesA": 640, "reservedBytesB": 832, "growthBytes": 192, "growthShare": 0.3,
        "physicalPeakBytesA": 640, "physicalPeakBytesB": 832, "peakGrowthBytes": 192,
        "unpairedA": 1, "unpairedB": 1,
        "grownLine": "f.py:5", "grownLineBytes": 192,
        "grownOp": "jit(f)/layer_0/dot", "grownOpBytes": 192,
    }  # fmt: skip
    shown = run("compare", "before", "after", "before").out.splitlines()
    assert shown[0] == (
        "before against 2 others: it reserves 640 B, its physical peak is 640 B,"
        " summed over 2 programs"
    )
    assert [line.split()[0] for line in shown[2:]] == ["other", "------", "after", "before"]


def test_one_against_many_with_a_grouping_names_the_sides(run, graph):
    asked = ("compare", "before", "after", "before", "--by", "line")
    found = json.loads(run(*asked, "--format", "json").out)
    assert {(row["a"], row["b"]) for row in found} == {("before", "after"), ("before", "before")}
    for side, total in (("after", 832), ("before", 640)):
        assert sum(row["bytesB"] for row in found if row["b"] == side) == total
    assert run(*asked).out.count("By line: ") == 2


def test_each_of_many_that_grew_trips_the_gate_in_a_line(run, graph):
    ended = run("compare", "before", "before", "after", "after", "--max-growth", "1%", "-q")
    assert ended.code == 4
    assert [line.partition(":")[0] for line in ended.err.splitlines()] == ["before → after"] * 2
    assert run("compare", "after", "before", "after", "--max-growth", "1%").code == 0


def test_without_a_limit_five_rows_of_each_part_else_ten_else_all(run, tmp_path):
    for number in range(12):
        text = dump(256).replace("f.py", f"f{number}.py")
        write_dump(tmp_path / "runs" / "a", number, f"jit_{number}", text)
        write_dump(tmp_path / "runs" / "b", number, f"jit_{number}", text.replace("256", "512"))
    graph = tmp_path / "g.lbug"
    run("ingest", tmp_path / "runs", "--graph", graph)

    def lines(*options):
        return run("compare", "a", "b", "--graph", graph, *options).out.splitlines()

    page = lines()
    by_line = page[page.index(next(line for line in page if line.startswith("By line"))) :]
    assert len(by_line) == 3 + 5 + 1
    assert len(lines("--by", "line", "--format", "csv")) == 1 + 10 + 1
    assert len(lines("--by", "line", "--format", "csv", "--limit", 0)) == 1 + 25


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("jit(train_step)/f_1", "jit(train_step)/f_1"),
        ("jit(_normal)/x_", "jit(\\_normal)/x\\_"),
        ("a|b*c`d<e", "a\\|b\\*c\\`d\\<e"),
        ("params['x'][0]", "params['x'][0]"),
        ("[x](y)", "\\[x](y)"),
    ],
)
def test_names_are_escaped_in_markdown(text, escaped):
    assert escape_markdown(text) == escaped


@pytest.mark.parametrize("by", By)
def test_each_grouping_has_a_cell_for_each_column(run, graph, by):
    shown = run("compare", "before", "after", "--by", by, "--format", "md").out
    heading, _, *rows = [line for line in shown.splitlines() if line.startswith("|")][6:]
    assert rows
    assert {row.count("|") for row in rows} == {heading.count("|")}
