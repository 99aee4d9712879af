"""`advise` writes a page for people, and rows for machines."""

import csv
import json
from pathlib import Path

import pytest

from tests.tiny_dumps import PADDED, tiny_dump, write_padded_run
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest

COLUMNS = [
    *("compilation", "finding", "query", "measure", "bytes", "share", "rows", "evidence"),
    *("jax", "tensorflow", "pytorch", "bytesAtMost", "doubt", "expectedBytes", "places"),
    "whatif",
]


@pytest.fixture
def padded(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name a graph in the environment whose only compilation is all padding."""
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        ingest(graph, write_padded_run(tmp_path / "runs"), jobs=1)
    monkeypatch.setenv("XLAGRAPH_GRAPH", str(tmp_path / "g.lbug"))


def test_a_page_shows_the_savings_the_values_and_what_to_change(run, padded):
    ended = run("advise", "padded/f")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0] == "padded/f: 8.0 KiB reserved, peak 8.0 KiB"
    assert lines[2] == "1. Padding fills the peak: up to 8.0 KiB, 99.8% of the physical peak"
    assert any(line.split()[-2:] == ["s8[16,1]", "a"] for line in lines)
    assert any(line.startswith("JAX:") for line in lines)
    # op names such as jit(f)/iota show that JAX compiled the program
    assert not any(line.startswith(("TensorFlow:", "PyTorch/XLA:")) for line in lines)
    assert "Shown by:    xlagraph query waste/padding padded/f" in lines
    assert lines[-1].startswith("Sums of sizes, not replanned: findings overlap")


def test_findings_beyond_the_limit_are_counted(run, tmp_path):
    # padding fills the peak; an input could be donated, too
    text = tiny_dump(
        """
        0 | 4096   | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096   | maybe-live-out
        2 | 131072 | preallocated-temp
        """,
        """
        0 | p   | f32[1024]{0} | 0 | 4096   | 0-3 | parameter(0)
        2 | a   | s8[16,1]     | 0 | 131072 | 1-2 | iota()    | jit(f)/iota
        1 | out | f32[1024]{0} | 0 | 4096   | 2-3 | negate(p) | jit(f)/neg
        """,
    )
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "f.txt").write_text(text)
    graph = ("--graph", tmp_path / "g.lbug")
    assert run("ingest", tmp_path / "two", *graph).code == 0
    for options, count, hidden in (
        (("--limit", 1), 1, "1 more finding not shown (beyond the limit): --limit 0 shows all."),
        (("--limit", 0), 2, None),
    ):
        shown = " ".join(run("advise", *graph, *options).out.split())
        assert shown.count("Shown by:") == count
        assert hidden in shown if hidden else "not shown" not in shown


def test_the_user_says_whose_lines_are_shown(run, padded):
    assert run("advise", "padded/f", "--own", "models", "--library", "/src/flax").code == 0


def test_names_are_data_in_markdown_and_in_a_command_to_copy(run, tmp_path):
    (tmp_path / "__my__ runs").mkdir()
    (tmp_path / "__my__ runs" / "f.txt").write_text(PADDED)
    graph = ("--graph", tmp_path / "g.lbug")
    assert run("ingest", tmp_path / "__my__ runs", *graph).code == 0
    command = "xlagraph query waste/padding '__my__ runs/f'"
    assert f"Shown by:    {command}\n" in run("advise", *graph).out
    markdown = run("advise", *graph, "--format", "md").out
    assert markdown.startswith(r"- \_\_my\_\_ runs/f: ")
    assert f"- **Shown by**: `{command}`\n" in markdown


def test_rows_have_columns_that_scripts_can_read(run, padded):
    (row,) = json.loads(run("advise", "--format", "json").out)
    assert list(row) == COLUMNS
    assert (row["query"], row["measure"], row["bytes"]) == ("waste/padding", "physical", 8176)
    assert row["evidence"][0]["peakPaddingBytes"] == 8176
    assert next(csv.reader(run("advise", "--format", "csv").out.splitlines())) == COLUMNS
    assert "### 1. Padding fills the peak" in run("advise", "--format", "md").out


def test_no_findings_is_a_good_answer(run, graph):
    ended = run("advise", "before")
    assert ended.code == 0
    assert ended.out.endswith("\nNo findings.\n")
    assert run("advise", "before", "--format", "json").out == "[]\n"


def test_a_memory_space_that_does_not_exist_is_an_error(run, padded):
    for name in ("padded/f", "padded"):
        ended = run("advise", name, "--memory-space", 3)
        assert (ended.code, ended.out) == (1, "")
        assert "nothing is allocated in memory space 3" in ended.err
        assert "the memory spaces in use: 0" in ended.err


def test_an_unknown_name_is_reported_with_similar_names(run, padded):
    ended = run("advise", "paded")
    assert ended.code == 1
    assert "did you mean 'padded'" in ended.err


OWN = """\
// Values that could be smaller
// @kind     table
// @answers  Which values could be smaller?
// @param    compilation STRING        key of a compilation
// @param    memorySpace INTEGER = 0   number of the memory space
// @column   value       STRING        label of the value
// @column   sizeBytes   INTEGER       assigned size
// @measure  assigned
// @advice   sizeBytes reserved Values could be smaller
// @remedy   jax         cast them
// @remedy   tensorflow  cast them
// @remedy   pytorch     cast them
// @status   experimental
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)
MATCH (a)-[:HOLDS]->(v:Value {memorySpace: $memorySpace})
RETURN v.label AS value, v.sizeBytes AS sizeBytes
ORDER BY value
"""
FAILING = {
    "foo(v.sizeBytes) AS sizeBytes": "no function FOO",
    "v.sizeBytes AS size": "@column sizeBytes is not returned",
}


@pytest.mark.parametrize("returned", FAILING)
def test_an_own_query_that_fails_is_named_and_the_others_still_run(
    run, padded, tmp_path, monkeypatch, returned
):
    file = tmp_path / "own" / "mine" / "smaller.cypher"
    file.parent.mkdir(parents=True)
    monkeypatch.setenv("XLAGRAPH_QUERIES", str(tmp_path / "own"))
    asked = ("advise", "padded", "--quiet", "--format", "json")
    file.write_text(OWN)
    ended = run(*asked)
    assert (ended.code, ended.err) == (0, "")
    assert [row["query"] for row in json.loads(ended.out)] == ["mine/smaller", "waste/padding"]
    file.write_text(OWN.replace("v.sizeBytes AS sizeBytes", returned))
    ended = run(*asked)
    assert ended.code == 1
    assert [row["query"] for row in json.loads(ended.out)] == ["waste/padding"]
    (line,) = ended.err.splitlines()
    assert line.startswith(f"left out: {file}: ")
    assert FAILING[returned] in line
    # nor does it hide that the program does not fit
    ended = run("check", "padded", "--capacity", "1KiB")
    assert ended.code == 4
    assert "Padding fills the peak" in ended.out
    assert line in ended.err.splitlines()


def test_findings_are_written_as_sarif(run, padded):
    ended = run("advise", "padded/f", "--format", "sarif")
    assert ended.code == 0
    assert json.loads(ended.out)["version"] == "2.1.0"
    assert run("advise", "padded/f", "--format", "sarif", "--columns", "bytes").code == 2
