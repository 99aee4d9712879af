"""The service on a server: each process that reads has a separate connection."""

import time
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.neo4j_server.server import Neo4jServer
from xlagraph.serve import create_app
from xlagraph.serve.readers import workers

PATIENCE_SECONDS = 120
SLOW = "UNWIND range(1, 100000) AS a UNWIND range(1, 1000000) AS b RETURN sum(a * b) AS slowSum"


@pytest.fixture
def client(neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    # database names ignore case, and the location includes names other than `neo4j`
    named = (neo4j_server.database or "neo4j").upper()
    for name, value in (neo4j_server.environment() | {"NEO4J_DATABASE": named}).items():
        monkeypatch.setenv(name, value)
    app = create_app(neo4j_server.uri)
    assert app.state.location == f"{neo4j_server.uri} {named}"
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        yield client


def ask(client: TestClient, statement: str) -> tuple[int, object]:
    response = client.post("/api/cypher", json={"statement": statement})
    return response.status_code, response.json()


def test_it_reads_the_named_database(client: TestClient) -> None:
    assert client.get("/readyz").status_code == 200
    assert client.get("/api/runs").status_code == 200
    assert ask(client, "RETURN 1 AS one") == (200, [{"one": 1}])
    status, answer = ask(client, "RETURN " + "[" * 1000 + "1" + "]" * 1000 + " AS x")
    assert status == 400
    assert "nested brackets and CASE" in str(answer)


def test_a_statement_that_takes_too_long_ends_on_the_server_too(
    client: TestClient, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "MOST_SECONDS", 5.0)
    assert ask(client, SLOW) == (400, {"error": "the read took longer than 5 s"})
    deadline = time.monotonic() + PATIENCE_SECONDS
    while running_on(neo4j_server):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert ask(client, "RETURN 1 AS one") == (200, [{"one": 1}])


def test_an_answer_of_too_many_bytes_is_refused_while_it_is_read(client: TestClient) -> None:
    status, answer = ask(client, "UNWIND range(1, 20000) AS n RETURN range(1, 1000) AS numbers")
    assert status == 400
    assert "the answer has more than 32.0 MiB" in str(answer)


def running_on(server: Neo4jServer) -> bool:
    """Return True if a server still runs the slow statement."""
    found = server.execute("SHOW TRANSACTIONS YIELD currentQuery")
    return any("slowSum" in str(record["currentQuery"]) for record in found)
