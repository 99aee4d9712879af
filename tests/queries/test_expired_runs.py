"""Runs are kept by age, or by number of the latest ones; the others expire."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.graph.made_rows import made_rows
from xlagraph.queries.errors import NoSuchName
from xlagraph.queries.runner.expired_runs import Retention, expired_runs

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)


@pytest.fixture
def three_runs(graph):
    """Runs of 1, 10 and 30 March; those of the branch main compile another module."""
    runs = [("c", "01", "main"), ("a", "10", "main"), ("b", "30", "side")]
    with graph.load() as load:
        for name, day, branch in runs:
            load.write(
                made_rows(
                    name,
                    f"jit_{branch}",
                    tags=[f"branch={branch}", "device=v5e"],
                    ingested_at=f"2026-03-{day}T12:00:00+00:00",
                )
            )
    return graph


def names(graph, **rules):
    return [run.name for run in expired_runs(graph, Retention(**rules), NOW)]


def test_an_expired_run_has_its_time_and_compilations(three_runs):
    (run,) = expired_runs(three_runs, Retention(keep_last=2), NOW)
    assert (run.name, run.ingested_at, run.compilations) == (
        "c",
        datetime(2026, 3, 1, 12, tzinfo=UTC),
        1,
    )


def test_runs_older_than_the_age_expire_and_the_oldest_is_first(three_runs):
    assert names(three_runs, older_than=timedelta(days=7)) == ["c", "a"]
    # a run of exactly that age is not older
    assert names(three_runs, older_than=timedelta(days=21)) == ["c"]
    assert names(three_runs, older_than=timedelta(days=60)) == []


def test_runs_that_are_not_among_the_latest_expire(three_runs):
    assert names(three_runs, keep_last=1) == ["c", "a"]
    assert names(three_runs, keep_last=0) == ["c", "a", "b"]
    assert names(three_runs, keep_last=9) == []


def test_of_runs_of_one_second_the_last_by_name_is_kept(graph):
    with graph.load() as load:
        for name in ("x", "y"):
            load.write(made_rows(name, ingested_at="2026-03-01T12:00:00+00:00"))
    assert names(graph, keep_last=1) == ["x"]


def test_a_run_that_either_rule_keeps_is_kept(three_runs):
    assert names(three_runs, older_than=timedelta(days=7), keep_last=2) == ["c"]
    assert names(three_runs, older_than=timedelta(days=25), keep_last=0) == ["c"]


def test_only_runs_with_the_tags_and_the_module_count(three_runs):
    assert names(three_runs, keep_last=1, tags=["branch=main"]) == ["c"]
    assert names(three_runs, keep_last=0, tags=["branch=main", "device=v5p"]) == []
    assert names(three_runs, keep_last=0, module="jit_side") == ["b"]
    with pytest.raises(NoSuchName, match="no module is called 'jit_sid'"):
        names(three_runs, keep_last=0, module="jit_sid")


def test_a_retention_without_a_rule_is_refused(three_runs):
    with pytest.raises(ValueError, match="older_than or keep_last"):
        expired_runs(three_runs, Retention(tags=["branch=main"]), NOW)
