"""Servers with Neo4j Browser, and checks of the links to them."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.browser.neo4j_browser import Neo4jBrowser
from tests.graph_fixtures import StartServer
from tests.neo4j_server.server import ASK_FOR_PASSWORD, Neo4jServer, with_password
from tests.ports import reserved_port
from tests.queries.query_cases import read_cases
from tests.queries.three_runs import STEP
from xlagraph.queries import load_catalogue

SECRET = "only-for-tests"
ODD_RUN = "a #1 & \"b\" 'c' é"

PICTURES = [case for case in read_cases() if load_catalogue()[case.query].kind == "graph"]

Command = Callable[..., str]


@contextmanager
def server_with_browser(home: Path, start: StartServer) -> Iterator[Neo4jServer]:
    """Start an empty server with a password and Browser, and set the environment."""
    with (
        reserved_port() as port,  # the address of Browser is read from the settings
        start(
            home,
            ASK_FOR_PASSWORD | {"server.http.listen_address": f"127.0.0.1:{port}"},
            has_browser=True,
        ) as server,
        pytest.MonkeyPatch.context() as environment,
    ):
        environment.setenv("NEO4J_PASSWORD", SECRET)
        yield with_password(server, SECRET)


def write_odd_run(folder: Path) -> None:
    """Write the run with the odd name below a folder."""
    (folder / ODD_RUN).mkdir(parents=True)
    (folder / ODD_RUN / "step.txt").write_text(STEP)


def assert_a_link_shows_rows(browser: Neo4jBrowser, command: Command) -> None:
    """Open the link of a query, press the arrow once, and check that rows are shown."""
    asked = ("query", "peak/contributors", "-c", f"{ODD_RUN}/step", "--limit", 3)
    link = command(*asked, "--browser")
    # the page is at the address that the server names
    assert link.startswith(f"{browser.server.browser_url}?dbms=bolt%3A%2F%2Fneo4j%40127.0.0")
    browser.open(link)
    browser.press_the_arrow()
    values = [row["value"] for row in json.loads(command(*asked, "--format", "json"))]
    # the first column numbers the rows
    assert [row[1] for row in browser.rows()] == values
