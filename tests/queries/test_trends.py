"""Rows over runs are sorted by run name, time of ingest, or a tag."""

from pathlib import Path
from typing import Any

import pytest

from tests.graph_fixtures import GraphOf
from tests.tiny_dumps import dump, tiny_dump, write_dump, write_runs
from xlagraph.graph import Graph, tag_run
from xlagraph.ingest import ingest
from xlagraph.queries import NoSuchName, run

TRENDS: dict[str, dict[str, Any]] = {
    "trend/modules": {"module": "jit_f"},
    "trend/op": {"opName": "jit(f)/layer_0/dot"},
}
TAGS = {"after": {"build": "10", "commit": "a1"}, "before": {"build": "9"}}


def runs_of(graph: Graph, query: str, sort_by: str) -> list[object]:
    answer = run(graph, query, sortBy=sort_by, **TRENDS[query])
    return list(dict.fromkeys(row["run"] for row in answer.result.mappings()))


def ingest_tagged_runs(graph: Graph, folder: Path) -> None:
    """Fill a graph with tagged runs `before` and `after`, and later `late`, which has no tags."""
    ingest(graph, write_runs(folder / "runs"), jobs=1)
    write_dump(folder / "late", 1, "jit_f", dump(256))
    ingest(graph, folder / "late", jobs=1)
    for name, tags in TAGS.items():
        tag_run(graph, name, tags)


@pytest.fixture
def runs(graph_of: GraphOf) -> Graph:
    return graph_of(ingest_tagged_runs)


@pytest.mark.parametrize("query", TRENDS)
def test_runs_are_sorted_as_requested(runs: Graph, query: str):
    assert runs_of(runs, query, "run") == ["after", "before", "late"]
    assert sorted(map(str, runs_of(runs, query, "time"))) == ["after", "before", "late"]
    # 9 before 10 as numbers; a run without the tag is last
    assert runs_of(runs, query, "build") == ["before", "after", "late"]
    assert runs_of(runs, query, "commit") == ["after", "before", "late"]
    answer = run(runs, query, sortBy="build", **TRENDS[query])
    tags = {row["run"]: row["tag"] for row in answer.result.mappings()}
    assert tags == {"before": "build=9", "after": "build=10", "late": None}


@pytest.mark.parametrize("query", TRENDS)
def test_times_rise_when_sorted_by_time(runs: Graph, query: str):
    answer = run(runs, query, sortBy="time", **TRENDS[query])
    times = [str(row["ingestedAt"]) for row in answer.result.mappings()]
    assert times == sorted(times)


@pytest.mark.parametrize("query", TRENDS)
def test_a_tag_that_no_run_has_is_refused_with_similar_ones(runs: Graph, query: str):
    with pytest.raises(NoSuchName, match="no run has a tag called 'buld'; did you mean 'build'"):
        run(runs, query, sortBy="buld", **TRENDS[query])


def test_an_op_with_a_name_too_long_for_a_key_is_found(graph: Graph, tmp_path: Path):
    name = f"jit(f)/{'x' * 1000}/dot"
    (tmp_path / "long").mkdir()
    text = tiny_dump("0 | 8 | preallocated-temp", f"0 | a | s8[8] | 0 | 8 | 0-1 | iota() | {name}")
    (tmp_path / "long" / "f.txt").write_text(text)
    ingest(graph, tmp_path / "long", jobs=1)
    (row,) = run(graph, "trend/op", opName=name).result.mappings()
    assert row["bytes"] == 8
    (row,) = run(graph, "compare/scopes", runA="long", runB="long", depth=1).result.mappings()
    assert row["scope"] == "jit(f)"


def test_an_op_off_the_peak_is_found_by_the_name_that_newer_jax_would_give_it(
    graph: Graph, tmp_path: Path
):
    value = "0 | a | s8[8] | 0 | 8 | 0-1 | iota() | jit(f)/jit(main)/dot"
    blocks = "0 | 8 | preallocated-temp\n1 | 8 | color 1, preallocated-temp"
    (tmp_path / "f.txt").write_text(tiny_dump(blocks, value))
    ingest(graph, tmp_path, jobs=1)
    for name in ("jit(f)/dot", "jit(f)/jit(main)/dot"):
        assert not run(graph, "trend/op", opName=name, memorySpace=1).result.rows
    with pytest.raises(NoSuchName, match=r"no op is called 'jit\(f\)/dit'"):
        run(graph, "trend/op", opName="jit(f)/dit", memorySpace=1)
