"""Advice about a training step fits what was done to it: donated, rematerialised, neither."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from xlagraph.graph import Graph, open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import advise, check

RUNS = ("baseline", "donated", "remat")


@pytest.fixture(scope="module")
def graph(shared_dumps: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """A graph of the training step of three runs."""
    folder = tmp_path_factory.mktemp("advise")
    for run in RUNS:
        (folder / "runs" / run).mkdir(parents=True)
        for path in (shared_dumps / "runs" / run).glob("*jit_train_step*"):
            (folder / "runs" / run / path.name).symlink_to(path)
    with open_graph(folder / "graph.lbug", create=True) as graph:
        ingest(graph, folder / "runs", jobs=1)
        yield graph


def at_stake(graph, run):
    return {finding.query.id: finding.bytes for finding in advise(graph, run).findings}


def test_what_donation_would_save_is_near_what_it_saved(graph):
    reserved = {item.run: item.reserved_bytes for item in check(graph).compilations}
    saved = reserved["baseline"] - reserved["donated"]
    assert at_stake(graph, "baseline")["alias/not-donated"] == pytest.approx(saved, rel=0.1)


def test_who_donates_is_not_told_to(graph):
    assert "alias/not-donated" not in at_stake(graph, "donated")
    assert "alias/not-donated" not in at_stake(graph, "remat")


def test_only_who_keeps_activations_is_told_to_compute_them_again(graph):
    assert at_stake(graph, "baseline")["lifetime/kept-for-backward"] > 40 * 2**20
    assert "lifetime/kept-for-backward" not in at_stake(graph, "remat")
