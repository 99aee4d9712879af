"""Advice about a training step fits its variant: donated, rematerialised, neither."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from xlagraph.graph import Graph, open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import advise, check


class Steps(NamedTuple):
    """The training step of the runs baseline, donated and remat, for one model."""

    graph: Graph
    donating: tuple[str, ...]
    kept: int
    """Number of findings about activations; with a checkpoint, the larger model needs as much."""


@pytest.fixture(scope="module", params=["corpus", "shared_dumps"])
def steps(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Steps]:
    """The example model, and a larger one that donates in its rematerialised variant too."""
    dumps: Path = request.getfixturevalue(request.param)
    folder = tmp_path_factory.mktemp("advise")
    for run in ("baseline", "donated", "remat"):
        (folder / "runs" / run).mkdir(parents=True)
        for path in (dumps / "runs" / run).glob("*jit_train_step*"):
            (folder / "runs" / run / path.name).symlink_to(path)
    with open_graph(folder / "graph.lbug", create=True) as graph:
        ingest(graph, folder / "runs", jobs=1)
        if request.param == "corpus":
            yield Steps(graph, ("donated",), kept=1)
        else:
            yield Steps(graph, ("donated", "remat"), kept=0)


def potential_savings(graph: Graph, run: str) -> dict[str, int]:
    return {finding.query.id: finding.bytes for finding in advise(graph, run).findings}


def test_the_predicted_saving_of_donation_is_near_the_actual_one(steps: Steps):
    reserved = {made.run: made.reserved_bytes for made in check(steps.graph).compilations}
    saved = reserved["baseline"] - reserved["donated"]
    found = potential_savings(steps.graph, "baseline")["alias/not-donated"]
    assert found == pytest.approx(saved, abs=0.015 * reserved["baseline"])


def test_a_program_that_donates_is_not_advised_to(steps: Steps):
    for run in steps.donating:
        assert "alias/not-donated" not in potential_savings(steps.graph, run)


def test_only_a_program_that_a_checkpoint_makes_smaller_is_advised_to_use_one(steps: Steps):
    kept = [
        finding
        for finding in advise(steps.graph, "baseline").findings
        if finding.query.id == "lifetime/kept-for-backward"
        and "unrolled loop" not in finding.advice.title  # which needs a loop of the program, too
    ]
    assert len(kept) == steps.kept
    reserved = {made.run: made.reserved_bytes for made in check(steps.graph).compilations}
    saved = reserved["baseline"] - reserved["remat"]
    for each in kept:
        assert 0.8 * saved <= each.bytes <= each.most_bytes <= 1.2 * saved
    assert "lifetime/kept-for-backward" not in potential_savings(steps.graph, "remat")
