"""A graph file for tests of the embedded engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.graph.made_rows import made_rows
from xlagraph.graph import Graph, open_graph


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[Graph]:
    """A file with the made rows."""
    with open_graph(tmp_path / "graph.lbug", create=True) as graph:
        with graph.load() as load:
            load.write(made_rows())
        yield graph
