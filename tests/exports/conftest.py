"""Graphs that are exported: a small program, and the example runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.exports.small_plans import ingest_small
from xlagraph.graph import Graph, open_graph
from xlagraph.ingest import ingest

RUNS = Path(__file__).resolve().parents[2] / "examples" / "runs"


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """The example runs; tests must not change them."""
    file = tmp_path_factory.mktemp("examples") / "graph.lbug"
    with open_graph(file, create=True) as graph:
        assert ingest(graph, RUNS, jobs=1).ok
        yield graph


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """The small program; tests must not change it."""
    folder = tmp_path_factory.mktemp("small")
    with open_graph(folder / "graph.lbug", create=True) as graph:
        ingest_small(graph, folder / "runs")
        yield graph
