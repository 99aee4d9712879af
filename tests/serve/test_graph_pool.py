"""The graphs that requests read side by side."""

import pytest

from tests.neo4j_server.server import Neo4jServer
from xlagraph.serve.graph_pool import GraphPool


def test_two_requests_at_once_read_the_database_that_is_named(
    neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a server takes its name in any case, and what is not called `neo4j` stands in the location
    named = (neo4j_server.database or "neo4j").upper()
    for name, value in (neo4j_server.environment() | {"NEO4J_DATABASE": named}).items():
        monkeypatch.setenv(name, value)
    pool = GraphPool(neo4j_server.uri)
    with pool.borrow() as one, pool.borrow() as other:
        assert one is not other
        assert one.location == other.location == pool.location == f"{neo4j_server.uri} {named}"
    pool.close()
