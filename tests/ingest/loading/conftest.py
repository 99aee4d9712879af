"""A graph file to ingest into."""

import pytest

from xlagraph.graph import Graph


@pytest.fixture
def graph(embedded_graph: Graph) -> Graph:
    return embedded_graph
