"""Answers are tested on one engine; both return the same rows (test_statements_of_commands)."""

import pytest

from tests.graph_fixtures import GraphOf
from xlagraph.graph import Graph


@pytest.fixture
def graph(embedded_graph: Graph) -> Graph:
    return embedded_graph


@pytest.fixture(scope="module")
def graph_of(file_graph_of: GraphOf) -> GraphOf:
    return file_graph_of
