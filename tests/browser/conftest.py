"""Servers with Neo4j Browser, and one of them that holds a run with an odd name."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.neo4j_browser import Neo4jBrowser
from tests.graph_fixtures import skipped_without_neo4j
from tests.neo4j_server.artifacts import LONG_TERM
from tests.neo4j_server.server import ASK_FOR_PASSWORD, Neo4jServer, own_server, with_password
from tests.ports import reserved_port
from tests.queries.query_cases import DUMPS, read_cases, write_dumps
from xlagraph.cli import main
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import load_catalogue

TINY = DUMPS / "tiny"
PICTURES = [case for case in read_cases() if load_catalogue()[case.query].kind == "graph"]
ODD_RUN = "a #1 & \"b\" 'c' é"
SECRET = "only-for-tests"

Command = Callable[..., str]


@contextmanager
def server_with_browser(home: Path, version: str) -> Iterator[Neo4jServer]:
    """Start an empty server that asks for a password and serves Browser; environment set."""
    with (
        reserved_port() as port,  # the address of Browser is read from the settings
        own_server(
            home,
            ASK_FOR_PASSWORD | {"server.http.listen_address": f"127.0.0.1:{port}"},
            version=version,
            is_short_lived=True,
            has_browser=True,
        ) as (server, _),
        pytest.MonkeyPatch.context() as environment,
    ):
        environment.setenv("NEO4J_PASSWORD", SECRET)
        yield with_password(server, SECRET)


@pytest.fixture(scope="module")
def browser_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A server with Browser that holds pictures; its graph is not to be changed."""
    home = tmp_path_factory.mktemp("server")
    shutil.copytree(TINY, home / "runs" / ODD_RUN)
    write_dumps(PICTURES, home / "runs")
    with skipped_without_neo4j(), server_with_browser(home, LONG_TERM) as server:
        with open_graph(server.uri) as graph:
            assert ingest(graph, home / "runs", jobs=1).ok
        yield server


@pytest.fixture
def neo4j_browser(page: Page, browser_server: Neo4jServer) -> Neo4jBrowser:
    """Browser of that server, without anybody logged in."""
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


def assert_a_link_shows_rows(browser: Neo4jBrowser, command: Command) -> None:
    """Open the link of a query, press the arrow once, and find the rows of the query."""
    asked = ("query", "peak/contributors", "-c", f"{ODD_RUN}/step", "--limit", 3)
    link = command(*asked, "--browser")
    # the page is where the server says
    assert link.startswith(f"{browser.server.browser_url}?dbms=bolt%3A%2F%2Fneo4j%40127.0.0")
    browser.open(link)
    browser.press_the_arrow()
    values = [row["value"] for row in json.loads(command(*asked, "--format", "json"))]
    # the first column numbers the rows
    assert [row[1] for row in browser.rows()] == values
