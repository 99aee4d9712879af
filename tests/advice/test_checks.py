"""XLA's totals against the graph's, and limits, on each engine."""

import pytest

from tests.tiny_dumps import dump, ingest_two_runs, write_dump
from xlagraph.ingest import ingest
from xlagraph.queries import check, run


@pytest.fixture
def two_runs(graph_of):
    """Return the runs `before` and `after` of tiny_dumps."""
    return graph_of(ingest_two_runs)


def test_a_run_is_checked_compilation_by_compilation(two_runs):
    found = check(two_runs, ["before"])
    key = "before/module_0001.jit_f.cpu_after_optimizations"
    assert tuple(found.compilations[0]) == ("before", key, 384, 384, 384, 384, 384, True, None)
    assert [totals.agrees for totals in found.compilations] == [True, True]
    assert found.disagreeing == ()


def test_without_names_everything_is_checked_once(two_runs):
    assert len(check(two_runs).compilations) == 4
    assert len(check(two_runs, ["before", "jit_g"]).compilations) == 2


def test_a_value_equal_to_the_limit_passes(two_runs):
    found = check(two_runs)
    assert [totals.reserved_bytes for totals in found.reserving_more_than(639)] == [640]
    assert found.reserving_more_than(640) == ()
    assert [totals.physical_peak_bytes for totals in found.peaking_above(383)] == [640, 384]


def test_a_wrong_total_is_found_and_a_dump_without_a_total_is_not_judged(graph, tmp_path):
    write_dump(tmp_path / "a", 1, "jit_f", dump(256, total=1000))
    silent = dump(256).partition("\nTotal")[0]
    write_dump(tmp_path / "a", 2, "jit_g", silent)
    ingest(graph, tmp_path, jobs=1)
    found = check(graph)
    assert [totals.agrees for totals in found.compilations] == [False, None]
    assert [(totals.total_bytes, totals.allocation_bytes) for totals in found.disagreeing] == [
        (1000, 384)
    ]


def test_a_dump_without_live_ranges_has_an_unknown_peak(graph, tmp_path):
    text = dump(256)
    write_dump(tmp_path / "a", 1, "jit_f", text[: text.index("HloLiveRange")])
    ingest(graph, tmp_path, jobs=1)
    found = check(graph)
    assert len(found.without_peak) == 1
    assert found.peaking_above(0) == ()


def test_the_check_of_a_compilation_agrees_with_the_query_of_totals(two_runs):
    rows = run(two_runs, "overview/totals", limit=0).result.mappings()
    columns = ("totalBytes", "allocationBytes", "agrees", "logicalPeakBytes", "physicalPeakBytes")
    queried = {row["compilation"]: tuple(row[name] for name in columns) for row in rows}
    checked = {
        totals.compilation: (
            *(totals.total_bytes, totals.allocation_bytes, totals.agrees),
            *(totals.logical_peak_bytes, totals.physical_peak_bytes),
        )
        for totals in check(two_runs).compilations
    }
    assert checked == queried
