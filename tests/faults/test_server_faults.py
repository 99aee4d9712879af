"""A server that stops, restarts, has little memory, or has another schema version."""

import logging
import random
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.faults.harness.changing_dumps import ChangingDumps, wide_dump
from tests.faults.harness.dropping_proxy import DroppingProxy
from tests.faults.harness.forked_commands import Commands
from tests.faults.harness.graph_states import CleanGraphs, all_rows, key_of, put_dump
from tests.graph_fixtures import StartServer, empty
from tests.neo4j_server.server import Neo4jServer
from tests.ports import reserved_port
from tests.tiny_dumps import dump
from xlagraph.graph import (
    Graph,
    GraphTooNew,
    GraphUnwritable,
    WrongSchema,
    open_graph,
    remove,
)
from xlagraph.graph.neo4j.transactions import WRITE_LIMIT
from xlagraph.graph.schema import VERSION
from xlagraph.ingest import ingest


@pytest.fixture
def dumps(tmp_path: Path) -> ChangingDumps:
    return ChangingDumps(tmp_path / "runs", random.Random(6), wide=300)


@pytest.fixture
def proxy(neo4j_graph: Graph, neo4j_server: Neo4jServer) -> Iterator[DroppingProxy]:
    """A proxy to the session's server, which is emptied."""
    with closing(DroppingProxy(neo4j_server.uri)) as proxy:
        yield proxy


@pytest.mark.parametrize("sent_bytes", [150, 60_000])
def test_a_dropped_connection_loses_nothing(
    commands: Commands,
    dumps: ChangingDumps,
    tmp_path: Path,
    neo4j_graph: Graph,
    neo4j_server: Neo4jServer,
    proxy: DroppingProxy,
    sent_bytes: int,
):
    proxy.drop_after(sent_bytes, turn_away=2)
    ended = commands.run(
        "ingest",
        dumps.folder,
        *("--graph", f"bolt://127.0.0.1:{proxy.port}"),
        environment=neo4j_server.environment(),
    )
    assert ended.code == 0, ended
    assert proxy.drops == 1
    with CleanGraphs(tmp_path / "clean").of(dumps.texts) as clean:
        assert all_rows(neo4j_graph) == all_rows(clean)


def test_an_unreachable_server_is_reported_at_once(
    commands: Commands, dumps: ChangingDumps, no_connection_named: None
):
    with reserved_port() as port:
        for uri in (f"bolt://127.0.0.1:{port}", f"neo4j://127.0.0.1:{port}"):
            for command in (["ingest", dumps.folder], ["runs"], ["query", "peak/contributors"]):
                ended = commands.run(*command, "--graph", uri)
                assert ended.code == 3
                assert f"error: no Neo4j answers at {uri}" in ended.err
                assert "Traceback" not in ended.err


def test_a_server_of_another_protocol_is_reported(commands: Commands, no_connection_named: None):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        uri = f"bolt://127.0.0.1:{listener.getsockname()[1]}"
        running = commands.start("runs", "--graph", uri)
        while not running.has_ended():
            listener.settimeout(0.2)
            try:
                stranger, _ = listener.accept()
            except TimeoutError:
                continue
            stranger.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            stranger.close()
        ended = running.wait()
    assert ended.code == 3
    assert uri in ended.err
    assert "Traceback" not in ended.err


LITTLE_MEMORY = {"db.memory.transaction.max": "8m"}


class Started(NamedTuple):
    """A server with little memory for transactions; ``home`` keeps its graph."""

    home: Path
    server: Neo4jServer


@pytest.fixture(scope="module")
def started(
    tmp_path_factory: pytest.TempPathFactory, start_server: StartServer
) -> Iterator[Started]:
    home = tmp_path_factory.mktemp("small")
    with start_server(home, LITTLE_MEMORY) as server:
        yield Started(home, server)


@pytest.fixture
def small_server(started: Started) -> Neo4jServer:
    """That server, empty."""
    empty(started.server)
    return started.server


@pytest.fixture
def refusals(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """Messages of the server about transactions without memory, from the driver's log."""
    said: list[str] = []

    def listen(record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if "OutOfMemory" in message:
            said.append(message)
        return False  # not propagated: all rows are in this log

    log = logging.getLogger("neo4j.io")
    caplog.set_level(logging.DEBUG, log.name)
    log.addFilter(listen)
    yield said
    log.removeFilter(listen)


def test_a_size_that_exceeded_the_memory_of_a_server_is_not_tried_again(
    tmp_path: Path, small_server: Neo4jServer, no_connection_named: None, refusals: list[str]
):
    keys = [key_of("alpha", number, "jit_wide") for number in (1, 2)]
    for key in keys:
        put_dump(tmp_path / "runs", key, wide_dump(1500))
    with open_graph(small_server.uri) as graph:
        written = ingest(graph, tmp_path / "runs", jobs=1)
        assert 0 < len(refusals) < (written.nodes + written.relationships) // WRITE_LIMIT
        refusals.clear()
        with graph.load() as load:
            load.remove(keys[0])
            assert refusals
            refusals.clear()
            load.remove(keys[1])
            assert not refusals
        assert all_rows(graph)["all nodes"] == [(0,)]


def test_a_compilation_that_exceeds_the_memory_of_a_server_leaves_no_trace(
    tmp_path: Path, small_server: Neo4jServer, no_connection_named: None
):
    text = dump(64).replace(
        "calls=%fused,", f'calls=%fused, backend_config="{"x" * 10_000_000}",', 1
    )
    put_dump(tmp_path / "runs", key_of("alpha", 1, "jit_long"), text)
    with open_graph(small_server.uri) as graph:
        with pytest.raises(GraphUnwritable, match="too little memory"):
            ingest(graph, tmp_path / "runs", jobs=1)
        assert all_rows(graph)["all nodes"] == [(0,)]


def test_shared_nodes_that_exceed_the_memory_of_a_server_are_made_in_portions(
    tmp_path: Path, small_server: Neo4jServer, no_connection_named: None, refusals: list[str]
):
    numbers = count()
    text = re.sub(r"layer_\d+", lambda _: f"layer_{next(numbers)}", wide_dump(1200))
    key = key_of("alpha", 1, "jit_wide")
    put_dump(tmp_path / "runs", key, text)
    clean = CleanGraphs(tmp_path / "clean")
    with open_graph(small_server.uri) as graph, clean.of({key: text}) as expected:
        assert ingest(graph, tmp_path / "runs", jobs=1).ok
        assert refusals
        assert all_rows(graph) == all_rows(expected)
        remove(graph, "alpha")
        assert all_rows(graph)["all nodes"] == [(0,)]


@pytest.mark.parametrize(
    ("version", "error", "remedy"),
    [(VERSION + 1, GraphTooNew, "upgrade xlagraph"), (VERSION - 1, WrongSchema, "empty database")],
)
def test_a_server_of_another_schema_is_refused_with_the_remedy(
    neo4j_graph: Graph,
    neo4j_server: Neo4jServer,
    version: int,
    error: type[Exception],
    remedy: str,
):
    neo4j_server.execute("CREATE (:Run {key: 'run', schemaVersion: $version})", version=version)
    with pytest.raises(error, match=remedy):
        open_graph(neo4j_server.uri, create=True)
    neo4j_server.execute("MATCH (r:Run) DELETE r")


@pytest.mark.parametrize(
    ("version", "error", "remedy"),
    [(VERSION + 1, GraphTooNew, "upgrade xlagraph"), (VERSION - 1, WrongSchema, "a new file")],
)
def test_a_file_of_another_schema_is_refused_with_the_remedy(
    tmp_path: Path,
    dumps: ChangingDumps,
    commands: Commands,
    no_connection_named: None,
    version: int,
    error: type[Exception],
    remedy: str,
):
    file = tmp_path / "g.lbug"
    assert commands.run("ingest", dumps.folder / "beta", "--graph", file).code == 0
    set_version = (
        "import ladybug, sys; d = ladybug.Database(sys.argv[1], buffer_pool_size=1 << 28); "
        "c = ladybug.Connection(d); "
        "c.execute('MATCH (s:Schema) SET s.version = ' + sys.argv[2]); c.execute('CHECKPOINT')"
    )
    subprocess.run([sys.executable, "-c", set_version, file, str(version)], check=True)
    before = file.read_bytes()
    with pytest.raises(error, match=remedy):
        open_graph(file, create=True)
    ended = commands.run("ingest", dumps.folder, "--graph", file)
    assert ended.code == 3
    assert remedy in ended.err
    assert file.read_bytes() == before


def test_a_database_that_does_not_exist_is_reported(
    commands: Commands, neo4j_graph: Graph, neo4j_server: Neo4jServer
):
    environment = neo4j_server.environment() | {"NEO4J_DATABASE": "elsewhere"}
    ended = commands.run("runs", "--graph", neo4j_server.uri, environment=environment)
    assert ended.code == 3
    assert "elsewhere" in ended.err
    assert "Traceback" not in ended.err


def test_a_killed_server_that_restarts_gets_everything(
    commands: Commands,
    dumps: ChangingDumps,
    tmp_path: Path,
    no_connection_named: None,
    started: Started,
    start_server: StartServer,
    small_server: Neo4jServer,
):
    """Must be the last test of this server."""
    beta = dumps.folder / "beta"
    assert commands.run("ingest", beta, "--graph", small_server.uri).code == 0
    with closing(DroppingProxy(small_server.uri)) as proxy:
        proxy.drop_after(60_000, turn_away=0)
        uri = f"bolt://127.0.0.1:{proxy.port}"
        running = commands.start("ingest", dumps.folder, "--graph", uri)
        running.wait_until(lambda: proxy.drops > 0)
        assert small_server.process
        small_server.process.send_signal(signal.SIGKILL)
        small_server.process.wait()
        with start_server(started.home, LITTLE_MEMORY) as again:
            proxy.lead_to(again.uri)
            ended = running.wait()
            assert ended.code == 0, ended
            with (
                open_graph(again.uri) as graph,
                CleanGraphs(tmp_path / "clean").of(dumps.texts) as clean,
            ):
                assert all_rows(graph) == all_rows(clean)
