"""A compilation can be stored with only its totals and peaks; queries for the rest say so."""

from pathlib import Path
from typing import Any

import pytest

from tests.graph_fixtures import GraphOf
from tests.tiny_dumps import BEFORE_F, BEFORE_G, tiny_dump, write_dump
from xlagraph.graph import Detail, Graph, open_export, open_graph
from xlagraph.ingest import IngestOptions, ingest
from xlagraph.queries import NotStored, check, compare, load_catalogue, run, value, whatif

PEAK, ALL = (IngestOptions(detail=detail) for detail in (Detail.PEAK, Detail.ALL))
PEAK_LATE = tiny_dump(
    """
    0 | 64  | parameter 0, shape |f32[16]| at ShapeIndex {}
    1 | 256 | preallocated-temp
    """,
    """
    0 | p     | f32[16]{0} | 0   | 64  | 0-3 | parameter(0)
    1 | early | f32[32]{0} | 0   | 128 | 1-2 | iota()             | jit(f)/early
    1 | left  | f32[32]{0} | 128 | 128 | 2-3 | negate(early)      | jit(f)/left
    1 | late  | f32[32]{0} | 0   | 128 | 3-3 | add(left, left)    | jit(f)/late
    """,
)
"""`early` and `left` are live at the first of its peaks, `late` is not."""


def write_late_peak(folder: Path) -> Path:
    for number, module in ((1, "jit_f"), (3, "jit_g")):
        write_dump(folder / "before", number, module, PEAK_LATE)
    return folder


def ingest_peaks(graph: Graph, folder: Path) -> None:
    ingest(graph, write_late_peak(folder), PEAK, jobs=1)


@pytest.fixture
def at_peak(graph_of: GraphOf) -> Graph:
    return graph_of(ingest_peaks)


def names(graph: Graph, statement: str) -> list[object]:
    return [row[0] for row in graph.query(statement).rows]


def test_values_at_the_peak_are_stored_with_their_related_nodes_and_nothing_else(at_peak: Graph):
    values = f"MATCH (v:Value {{compilation: '{BEFORE_F}'}}) RETURN v.name AS name ORDER BY name"
    assert names(at_peak, values) == ["early", "left", "p"]
    assert names(at_peak, "MATCH (o:Op) RETURN o.name AS name ORDER BY name") == [
        "jit(f)/early",
        "jit(f)/left",
    ]
    for label in ("Instruction", "Allocation"):
        assert names(at_peak, f"MATCH (n:{label}) RETURN count(n) AS nodes") == [0]
    stated = "MATCH (c:Compilation) RETURN c.detail AS detail, c.valueCount AS values"
    assert set(at_peak.query(stated).rows) == {("peak", 4)}


def test_answers_about_the_peak_are_those_of_a_whole_graph(tmp_path: Path):
    write_late_peak(tmp_path / "dumps")
    with (
        open_graph(tmp_path / "peak.lbug", create=True) as at_peak,
        open_graph(tmp_path / "whole.lbug", create=True) as whole,
    ):
        ingest(at_peak, tmp_path / "dumps", PEAK, jobs=1)
        ingest(whole, tmp_path / "dumps", ALL, jobs=1)
        given: dict[str, Any] = {"compilation": BEFORE_F, "runA": BEFORE_F, "runB": BEFORE_G}
        given["opName"] = "jit(f)/early"
        queries = [
            query
            for query in load_catalogue().values()
            if query.needed_detail is Detail.PEAK and query.kind == "table"
        ]
        for query in queries:
            declared = {parameter.name for parameter in query.parameters}
            chosen = {name: given[name] for name in given if name in declared}
            a, b = (
                [{**row, "ingestedAt": None} for row in run(graph, query.id, **chosen)]
                for graph in (at_peak, whole)
            )
            assert a == b, query.id
    stored = {query.id for query in queries}
    assert {"peak/contributors", "peak/by-op", "compare/ops", "overview/totals"} <= stored


def test_queries_that_need_the_rest_say_that_it_is_not_stored(at_peak: Graph):
    sides: dict[str, Any] = {"runA": BEFORE_F, "runB": BEFORE_G}
    of_one: dict[str, Any] = {"compilation": BEFORE_F}
    asked = (("waste/padding", of_one), ("overview/roles", of_one), ("compare/roles", sides))
    for query, given in asked:
        with pytest.raises(NotStored, match=r"not stored: before/.* ingested with detail peak"):
            run(at_peak, query, **given)
    for ask in (
        lambda: value(at_peak, "early", BEFORE_F),
        lambda: whatif(at_peak, BEFORE_F),
    ):
        with pytest.raises(NotStored):
            ask()


def test_totals_are_checked_and_sides_compared_without_allocations(at_peak: Graph):
    assert [checked.agrees for checked in check(at_peak).compilations] == [True, True]
    assert not compare(at_peak, BEFORE_F, BEFORE_G).pairs[0].reserved.growth_bytes


def test_the_same_dump_with_another_detail_replaces_the_stored_one(graph: Graph, tmp_path: Path):
    write_late_peak(tmp_path)
    assert len(ingest(graph, tmp_path, PEAK, jobs=1).added) == 2
    assert len(ingest(graph, tmp_path, PEAK, jobs=1).unchanged) == 2
    assert len(ingest(graph, tmp_path, ALL, jobs=1).updated) == 2
    assert names(graph, "MATCH (i:Instruction) RETURN count(i) AS nodes") != [0]
    assert len(ingest(graph, tmp_path, PEAK, jobs=1).updated) == 2
    assert names(graph, "MATCH (o:Op {name: 'jit(f)/late'}) RETURN o.name AS name") == []
    assert run(graph, "peak/by-op", compilation=BEFORE_F).result.rows


def test_an_export_of_peaks_has_no_file_of_the_omitted_parts(tmp_path: Path):
    with open_export(tmp_path / "export") as target:
        ingest(target, write_late_peak(tmp_path / "dumps"), PEAK, jobs=1)
    assert target.manifest.counts["LIVE_AT_PEAK"] == 6
    assert {"Instruction", "Allocation", "HOLDS", "REUSES"}.isdisjoint(target.manifest.counts)
