"""Graphs for tests: a file, and a real Neo4j where one can be had.

Neo4j is, in this order: the server that NEO4J_URI names, if its database is empty; a
container, where a Docker engine answers; a server of our own from Maven's artifacts, where
Java and Maven are. Else tests of Neo4j are skipped and say why; XLAGRAPH_REQUIRE_NEO4J=1
makes that a failure, and =0 skips them without looking for a server. A server started here
listens on loopback only and ends with the tests.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.neo4j_server.artifacts import VERSION, NoNeo4j
from tests.neo4j_server.server import (
    Neo4jServer,
    ServerProcess,
    Settings,
    own_server,
    server_process,
)
from xlagraph.graph import Graph, open_graph

Fill = Callable[[Graph, Path], object]
"""Fills an empty graph; the folder is there for dumps."""
GraphOf = Callable[[Fill], Graph]
StartServer = Callable[..., AbstractContextManager[Neo4jServer]]
"""Starts a server in a folder, with settings, and with Browser if ``has_browser``."""
_FILLED_BY: dict[str, Fill] = {}
"""What the graph of a server holds, by its address, where `graph_of` filled it."""
_KEEP_PLANS = {"dbms.cypher.min_replan_interval": "1h"}
"""Statements are planned once, although each test changes how many nodes there are."""
_CONNECTION = ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE", "XLAGRAPH_GRAPH")


@contextmanager
def _container() -> Iterator[Neo4jServer | None]:
    """Start a container; None where no Docker engine answers."""
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True).returncode:
        yield None
        return
    from testcontainers.neo4j import Neo4jContainer

    image = f"neo4j:{VERSION}-community"
    with Neo4jContainer(image, password="only-for-tests") as container:
        yield Neo4jServer(container.get_connection_url(), "neo4j", "only-for-tests")


@contextmanager
def _some_server(home: Path) -> Iterator[Neo4jServer]:
    if uri := os.environ.get("NEO4J_URI"):
        server = Neo4jServer(
            uri,
            os.environ.get("NEO4J_USERNAME"),
            os.environ.get("NEO4J_PASSWORD"),
            os.environ.get("NEO4J_DATABASE"),
        )
        with open_graph(uri) as graph:
            if graph.query("MATCH (n) RETURN count(*) AS nodes").rows != ((0,),):
                pytest.fail(
                    f"the database at {uri} is not empty, and tests empty theirs: "
                    "delete its nodes yourself, or name another database in NEO4J_DATABASE"
                )
        yield server
        return
    with _container() as container:
        if container is not None:
            yield container
            return
    try:
        with own_server(home, _KEEP_PLANS, is_short_lived=True) as server:
            yield server
    except NoNeo4j as reason:
        raise NoNeo4j(f"NEO4J_URI is not set, no Docker engine answers, {reason}") from reason


@contextmanager
def skipped_without_neo4j() -> Iterator[None]:
    """Skip a test that finds no Neo4j, and say why; or fail, where one is required."""
    if os.environ.get("XLAGRAPH_REQUIRE_NEO4J") == "0":
        pytest.skip("XLAGRAPH_REQUIRE_NEO4J=0 asks for no Neo4j")
    try:
        yield
    except NoNeo4j as reason:
        if os.environ.get("XLAGRAPH_REQUIRE_NEO4J") == "1":
            pytest.fail(str(reason))
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A real Neo4j for the whole session."""
    with skipped_without_neo4j(), _some_server(tmp_path_factory.mktemp("neo4j")) as server:
        yield server


@pytest.fixture(scope="session")
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartServer]:
    """Starts servers for tests of settings, all in one process until a test kills that."""
    with ExitStack() as ended_here:
        running: list[ServerProcess] = []

        @contextmanager
        def start(
            home: Path, *settings: Settings, has_browser: bool = False
        ) -> Iterator[Neo4jServer]:
            with skipped_without_neo4j():
                if not running or running[-1].process.poll() is not None:
                    new = server_process(
                        tmp_path_factory.mktemp("java"), is_short_lived=True, has_browser=True
                    )
                    running.append(ended_here.enter_context(new))
                with running[-1].server(home, *settings, has_browser=has_browser) as server:
                    yield server

        yield start


@pytest.fixture
def no_connection_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the graph that the user's environment names."""
    for name in _CONNECTION:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def embedded_graph(tmp_path: Path, no_connection_named: None) -> Iterator[Graph]:
    """An empty graph file, not made yet."""
    with open_graph(tmp_path / "test.lbug", create=True) as graph:
        yield graph


@pytest.fixture
def neo4j_graph(
    neo4j_server: Neo4jServer, no_connection_named: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Graph]:
    """The session's Neo4j, emptied."""
    for name, value in neo4j_server.environment().items():
        monkeypatch.setenv(name, value)
    empty(neo4j_server)
    with open_graph(neo4j_server.uri, create=True) as graph:
        yield graph


@pytest.fixture(params=["embedded", "neo4j"])
def graph(request: pytest.FixtureRequest) -> Graph:
    """An empty graph, on each engine in turn."""
    found: Graph = request.getfixturevalue(f"{request.param}_graph")
    return found


@pytest.fixture(scope="module", params=["embedded", "neo4j"])
def graph_of(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GraphOf]:
    """Return the graph that a function has filled, on each engine in turn; not to be changed.

    A function fills it once, however many tests ask, unless another emptied the server.
    """
    is_server = request.param == "neo4j"
    server: Neo4jServer | None = request.getfixturevalue("neo4j_server") if is_server else None
    with _filled_graphs(server, tmp_path_factory) as graph_of:
        yield graph_of


@pytest.fixture(scope="module")
def file_graph_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphOf]:
    """Return the graph file that a function has filled; not to be changed."""
    with _filled_graphs(None, tmp_path_factory) as graph_of:
        yield graph_of


@contextmanager
def _filled_graphs(
    server: Neo4jServer | None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GraphOf]:
    with ExitStack() as opened:
        environment = opened.enter_context(pytest.MonkeyPatch.context())
        for name in _CONNECTION:
            environment.delenv(name, raising=False)
        if server is not None:
            for name, value in server.environment().items():
                environment.setenv(name, value)
        graphs: dict[Fill, Graph] = {}

        def filled(fill: Fill) -> Graph:
            if fill not in graphs:
                file = tmp_path_factory.mktemp("graph") / "test.lbug"
                location = file if server is None else server.uri
                graphs[fill] = opened.enter_context(open_graph(location, create=True))
            elif server is None or _FILLED_BY.get(server.uri) is fill:
                return graphs[fill]
            if server is not None:
                empty(server)
                _FILLED_BY[server.uri] = fill
            fill(graphs[fill], tmp_path_factory.mktemp("dumps"))
            return graphs[fill]

        yield filled


def empty(server: Neo4jServer) -> None:
    """Delete all nodes; constraints stay."""
    _FILLED_BY.pop(server.uri, None)
    delete = "MATCH (n) WITH n LIMIT 200 DETACH DELETE n RETURN count(*) AS deleted"
    while server.execute(delete)[0]["deleted"]:
        pass  # in portions, for servers with little memory
