"""`whatif` writes a page, or one object."""

import json
from pathlib import Path

import pytest

from xlagraph.graph import open_graph
from xlagraph.ingest import ingest

RUNS = Path(__file__).parents[3] / "examples" / "runs"
KEYS = (
    *("compilation", "tempBytes", "tempBytesReplayed", "offsetsEqual", "reservedBytes"),
    *("reservedBytesReplanned", "reservedBytesAfter", "reservedBytesAtMost", "tempBytesAfter"),
    *("peakStepAfter", "lowerBoundBytes", "liveAtPeak", "donated", "effects"),
    "assumptions",
)


@pytest.fixture(scope="module")
def baseline(tmp_path_factory):
    path = tmp_path_factory.mktemp("whatif") / "g.lbug"
    with open_graph(path, create=True) as graph:
        ingest(graph, RUNS / "baseline", jobs=1)
    return path


@pytest.fixture
def plan(run, baseline, monkeypatch):
    monkeypatch.setenv("XLAGRAPH_GRAPH", str(baseline))
    return lambda *arguments: run("whatif", "baseline", *arguments)


def test_one_object_has_the_bytes_before_and_after(plan):
    ended = plan("--donate", "all", "--format", "json")
    assert ended.code == 0
    found = json.loads(ended.out)
    assert tuple(found) == KEYS
    assert found["tempBytesReplayed"] == found["tempBytes"]
    assert found["offsetsEqual"] is True
    assert found["reservedBytesReplanned"] == found["reservedBytes"]
    assert found["reservedBytesAfter"] < found["reservedBytes"]
    assert found["reservedBytesAtMost"] is None
    assert found["donated"][0]["outcome"] in ("in place", "copied first")


def test_a_page_begins_with_the_accuracy_of_the_replay(plan):
    ended = plan("--donate", "all")
    assert ended.code == 0
    assert "XLA's plan is reproduced byte for byte" in ended.out.splitlines()[0]
    assert "Donated: " in ended.out
    assert "Assumed: the schedule does not change." in ended.out


def test_changes_of_several_kinds_combine(plan):
    alone = json.loads(plan("--donate", "all", "--format", "json").out)
    both = json.loads(plan("--donate", "all", "--shrink", "*=2", "--format", "json").out)
    assert both["reservedBytesAfter"] < alone["reservedBytesAfter"]


def test_an_invalid_factor_is_a_usage_error(plan):
    assert plan("--shrink", "dot").code == 2
    assert plan("--shrink", "*=none").code == 2


def test_a_pattern_shrunk_twice_is_a_usage_error_before_a_graph_is_opened(run):
    ended = run("whatif", "--shrink", "dot=2", "--shrink", "dot=4", "--graph", "none.lbug")
    assert (ended.code, ended.out) == (2, "")
    assert "--shrink names dot twice" in ended.err


def test_a_pattern_without_a_value_is_named(plan):
    ended = plan("--without", "nonesuch")
    assert ended.code == 1
    assert "nonesuch" in ended.err


def test_check_says_how_many_temporary_blocks_replay(run, baseline, monkeypatch):
    monkeypatch.setenv("XLAGRAPH_GRAPH", str(baseline))
    ended = run("check", "--replay", "--format", "json")
    assert ended.code == 0
    blocks = json.loads(ended.out)
    assert blocks
    assert all(block["tempBytes"] == block["tempBytesReplayed"] for block in blocks)
    assert all(block["offsetsEqual"] for block in blocks)
    count = len(blocks)
    assert f"{count} of {count} temporary block" in ended.err
