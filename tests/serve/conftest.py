"""Fixtures of the service: tiny runs in a file, and a client of its application."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.tiny_dumps import write_padded_run, write_runs
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.serve import create_app

ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture(scope="session")
def served_graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph with the runs `before`, `after` and `padded`; tests must not change it."""
    folder = tmp_path_factory.mktemp("served")
    path = folder / "graph.lbug"
    with open_graph(path, create=True) as graph:
        write_runs(folder / "runs")
        assert ingest(graph, write_padded_run(folder / "runs"), jobs=1).ok
    return path


@pytest.fixture(scope="session")
def client(served_graph: Path) -> Iterator[TestClient]:
    """A client of the service over it, on the same machine."""
    with TestClient(create_app(served_graph), base_url=ADDRESS) as client:
        yield client
