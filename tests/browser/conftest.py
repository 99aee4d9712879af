"""Servers with Neo4j Browser; one has a run with an odd name."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.links import PICTURES, Command, server_with_browser, write_odd_run
from tests.browser.neo4j_browser import Neo4jBrowser
from tests.graph_fixtures import StartServer
from tests.neo4j_server.server import Neo4jServer
from tests.queries.query_cases import write_dumps
from xlagraph.cli import main
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest


@pytest.fixture(scope="module")
def browser_server(
    tmp_path_factory: pytest.TempPathFactory, start_server: StartServer
) -> Iterator[Neo4jServer]:
    """A server with Browser and pictures; tests must not change its graph."""
    home = tmp_path_factory.mktemp("server")
    write_odd_run(home / "runs")
    write_dumps(PICTURES, home / "runs")
    with server_with_browser(home, start_server) as server:
        with open_graph(server.uri) as graph:
            assert ingest(graph, home / "runs", jobs=1).ok
        yield server


@pytest.fixture
def neo4j_browser(page: Page, browser_server: Neo4jServer) -> Neo4jBrowser:
    """Browser of that server, before login."""
    return Neo4jBrowser(page, browser_server)


@pytest.fixture
def command(
    browser_server: Neo4jServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    no_connection_named: None,
) -> Command:
    """Run a command on that server, and return what it prints."""
    monkeypatch.setenv("NEO4J_URI", browser_server.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", browser_server.password or "")

    def run(*arguments: object) -> str:
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == 0
        return capsys.readouterr().out.strip()

    return run
