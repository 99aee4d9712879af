"""Neo4j as a server: reached or not, shared by many loads, killed and restarted."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import Any

import neo4j
import pytest

from tests.graph.loader import start_loader
from tests.graph.made_rows import facts, made_rows, untimed
from tests.graph_fixtures import NEWEST, VERSION, NoNeo4j, own_server, skipped_without_neo4j
from tests.tiny_dumps import STEM, dump, write_dump, write_runs
from xlagraph.graph import GraphTooNew, GraphUnreachable, open_graph, remove
from xlagraph.graph.neo4j.load import BATCH_ROWS
from xlagraph.graph.schema import SCHEMA
from xlagraph.ingest import ingest
from xlagraph.queries import load_catalogue

OPENER = """
import sys
from xlagraph.graph import GraphUnreachable, open_graph
try:
    open_graph(sys.argv[1])
except GraphUnreachable as error:
    print("told:", error)
"""
REMOVER = """
import sys
from xlagraph.graph import open_graph, remove
with open_graph(sys.argv[1]) as graph:
    print("began", flush=True)
    remove(graph, "baseline")
"""

pytestmark = pytest.mark.usefixtures("no_connection_named")


def cells(graph, text):
    return [row[0] for row in graph.query(text).rows]


def assert_nothing_is_left_over(graph):
    """No bookkeeping, no part without its compilation, no shared node without a user."""
    assert cells(graph, "MATCH (n:Load|Loading) RETURN count(*) AS n") == [0]
    assert cells(graph, "MATCH (c:Compilation) WHERE c.state <> 'complete' RETURN c.key AS k") == []
    stray = (
        "MATCH (n:Value|Instruction|Allocation|MemorySpace) "
        "WHERE NOT EXISTS { MATCH (c:Compilation {key: n.compilation}) } RETURN count(*) AS n"
    )
    assert cells(graph, stray) == [0]
    unused = "MATCH (n:Op|Scope|SourceLine|Frame|Module) WHERE NOT EXISTS { MATCH (n)<--() } "
    assert cells(graph, unused + "RETURN n.key AS key") == []
    assert (
        cells(graph, "MATCH (n:Op) WHERE NOT EXISTS { MATCH (n)-->() } RETURN n.key AS key") == []
    )


def test_a_server_that_is_not_there_is_told_at_once():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    began = time.monotonic()
    with pytest.raises(GraphUnreachable, match=f"bolt://127.0.0.1:{port}"):
        open_graph(f"bolt://127.0.0.1:{port}")
    assert time.monotonic() - began < 20


def test_something_else_that_listens_is_no_graph():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        port = server.getsockname()[1]
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                OPENER,
                f"bolt://127.0.0.1:{port}",
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        accepted, _ = server.accept()
        with accepted:
            accepted.recv(100)
            accepted.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        said, _ = process.communicate(timeout=60)
    assert said.startswith("told:")


def answer(listener, protocol, agent):
    """Speak Bolt as far as an opening needs it: all is well, whatever is asked."""
    told = {"server": agent, "connection_id": "bolt-1"}
    cells = b"".join(
        bytes([0x80 + len(name)]) + name.encode() + bytes([0xD0, len(text)]) + text.encode()
        for name, text in told.items()
    )
    success = bytes([0xB1, 0x70, 0xA0 + len(told)]) + cells
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection, connection.makefile("rwb") as stream:
                stream.read(20)
                stream.write(protocol)
                stream.flush()
                while length := int.from_bytes(stream.read(2)):
                    while length:
                        stream.read(length)
                        length = int.from_bytes(stream.read(2))
                    stream.write(len(success).to_bytes(2) + success + b"\0\0")
                    stream.flush()


@pytest.mark.parametrize(
    ("protocol", "agent"),
    [
        pytest.param(b"\0\0\4\5", "Neo4j/5.22.0", id="5.22"),
        pytest.param(b"\0\0\4\4", "Neo4j/4.4.40", id="4.4"),
        pytest.param(b"\0\0\0\0", "", id="no protocol of the driver"),
    ],
)
def test_a_server_that_is_too_old_is_told_what_is_needed(protocol, agent):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer, args=(listener, protocol, agent), daemon=True).start()
        uri = f"bolt://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(GraphUnreachable, match=f"{uri} is .*needs 5.26 or later"):
            open_graph(uri)
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # ends the thread


def test_a_graph_of_a_newer_schema_is_refused_with_the_remedy(neo4j_graph, neo4j_server):
    with neo4j_graph.load() as load:
        load.write(made_rows())
    set_version(neo4j_server, 99)
    with pytest.raises(GraphTooNew, match="upgrade xlagraph"):
        open_graph(neo4j_server.uri)


def set_version(server, version):
    with server.driver() as driver:
        driver.execute_query(
            "MATCH (r:Run) SET r.schemaVersion = $version",
            version=version,
            database_=server.database or "neo4j",
        )


def test_procedures_that_name_what_is_there_may_be_called(neo4j_graph):
    with neo4j_graph.load() as load:
        load.write(made_rows())
    labels = cells(neo4j_graph, "CALL db.labels() YIELD label RETURN label")
    assert "Compilation" in labels
    text = "MATCH (v:Value) CALL (v) { RETURN v.valueId AS id } RETURN max(id) AS id"
    assert cells(neo4j_graph, text) == [3]


def test_pictures_of_the_schema_show_the_schema_alone(neo4j_graph):
    with neo4j_graph.load() as load:
        load.write(made_rows())
    text = "CALL db.schema.visualization() YIELD nodes UNWIND nodes AS n RETURN n AS node"
    shown = {node["name"] for node in cells(neo4j_graph, text)}
    assert shown == {node.label for node in SCHEMA.nodes}
    labels = cells(neo4j_graph, "CALL db.labels() YIELD label RETURN label")
    assert set(labels) == shown


def test_what_is_not_complete_is_not_a_compilation(neo4j_graph):
    """Of two batches at once the first is replaced, and the second is new."""
    old, new, other = (
        made_rows(values=BATCH_ROWS // 10, sha256="1"),
        made_rows(values=BATCH_ROWS // 5, sha256="2"),
        made_rows(stem="other", values=BATCH_ROWS // 5, sha256="3"),
    )
    with neo4j_graph.load() as load:
        load.write(old)
    seen: set[object] = set()
    with neo4j_graph.load() as load:
        load.write(new)
        load.write(other)
        while "2" not in seen:
            found = neo4j_graph.query(
                "MATCH (c:Compilation) RETURN c.state AS state, c.sha256 AS digest"
            )
            states, digests = zip(*found.rows, strict=True) if found.rows else ((), ())
            assert set(states) <= {"complete"}
            seen.update(digests)
    assert seen <= {"1", "2", "3"}
    for rows in (new, other):
        assert facts(neo4j_graph.read(rows.compilation)) == facts(rows)
    assert_nothing_is_left_over(neo4j_graph)


def test_a_killed_load_is_invisible_and_the_next_one_clears(neo4j_graph):
    kept = made_rows("kept", op="op/0/x")
    with neo4j_graph.load() as load:
        load.write(kept)
    for delay in (0.0, 0.3, 0.8, 1.6):
        process = start_loader(neo4j_graph.location, "killed", 0, 60, 400)
        assert process.stdout is not None
        assert process.stdout.readline() == "loading\n"
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        visible = cells(
            neo4j_graph,
            "MATCH (:Run)-[:COMPILED]->(c:Compilation) WHERE c.state = 'complete' "
            "RETURN c.key AS key ORDER BY key",
        )
        for key in visible[::20]:
            number = int(key[-4:]) if key.startswith("killed") else None
            expected = kept
            if number is not None:
                expected = made_rows(
                    "killed",
                    f"module_{number:04}",
                    values=400,
                    op=f"op/{number % 3}/x",
                    sha256=f"{number} 400",
                )
            assert facts(neo4j_graph.read(key)) == facts(expected)
    with neo4j_graph.load():
        pass
    assert_nothing_is_left_over(neo4j_graph)
    assert facts(neo4j_graph.read(kept.compilation)) == facts(kept)


def test_a_killed_removal_is_ended_by_the_next_load(neo4j_graph):
    rows = made_rows(values=8000)
    with neo4j_graph.load() as load:
        load.write(rows)
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            REMOVER,
            neo4j_graph.location,
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    deadline = time.monotonic() + 30
    while cells(neo4j_graph, "MATCH (:Run)-[:COMPILED]->() RETURN count(*) AS n") == [1]:
        assert time.monotonic() < deadline
    process.kill()
    process.communicate()
    with neo4j_graph.load():
        pass
    assert_nothing_is_left_over(neo4j_graph)
    assert cells(neo4j_graph, "MATCH (n:Value) RETURN count(*) AS n") == [0]


def test_processes_that_load_the_same_at_once_give_what_one_gives(neo4j_graph):
    processes = [
        start_loader(neo4j_graph.location, "run", first, first + 12, 25) for first in range(8)
    ]
    for process in processes:
        said, errors = process.communicate(timeout=300)
        assert said == "loading\ndone\n", errors
    expected = [f"run/module_{number:04}" for number in range(19)]
    keys = "MATCH (:Run)-[:COMPILED]->(c:Compilation) RETURN c.key AS key ORDER BY key"
    assert cells(neo4j_graph, keys) == expected
    for number in range(19):
        rows = made_rows(
            "run", f"module_{number:04}", values=25, op=f"op/{number % 3}/x", sha256=f"{number} 25"
        )
        assert facts(neo4j_graph.read(rows.compilation)) == facts(rows)
    assert_nothing_is_left_over(neo4j_graph)


def test_loads_and_removals_at_once_lose_no_shared_node(neo4j_graph):
    """One process takes runs out whose ops others begin to use at that moment."""
    with neo4j_graph.load() as load:
        for number in range(12):
            load.write(made_rows("old", f"module_{number:04}", op=f"op/{number % 3}/x"))
    processes = [start_loader(neo4j_graph.location, f"new{n}", 0, 12, 5) for n in range(2)]
    for number in range(12):
        with neo4j_graph.load() as load:
            load.remove(f"old/module_{number:04}")
    for process in processes:
        said, errors = process.communicate(timeout=300)
        assert said == "loading\ndone\n", errors
    for run in ("new0", "new1"):
        for number in range(12):
            rows = made_rows(
                run, f"module_{number:04}", values=5, op=f"op/{number % 3}/x", sha256=f"{number} 5"
            )
            assert facts(neo4j_graph.read(rows.compilation)) == facts(rows)
    assert_nothing_is_left_over(neo4j_graph)
    assert cells(neo4j_graph, "MATCH (r:Run) RETURN r.key AS run ORDER BY run") == ["new0", "new1"]


def test_what_a_load_has_seen_may_be_removed_before_it_is_used_again(neo4j_graph):
    """The scope of one compilation is gone when an op of the next one stands within it."""
    kept = made_rows("kept", op="q/x")  # its source line stays: a miss would make all again
    seen = made_rows("seen", op="p/x", values=BATCH_ROWS // 10)
    later = made_rows("later", op="p/y")
    with neo4j_graph.load() as load:
        load.write(kept)
    with neo4j_graph.load() as load:
        load.write(seen)
        deadline = time.monotonic() + 60
        while "seen" not in cells(neo4j_graph, "MATCH (r:Run) RETURN r.key AS run"):
            assert time.monotonic() < deadline
        remove(neo4j_graph, "seen")
        load.write(later)
    for rows in (kept, later):
        assert facts(neo4j_graph.read(rows.compilation)) == facts(rows)
    assert_nothing_is_left_over(neo4j_graph)


@pytest.fixture
def server_home(tmp_path):
    """A folder for a server of the test's own; skips where none can be started."""
    if os.environ.get("NEO4J_URI"):
        pytest.skip("NEO4J_URI is set: this test would start and kill a server of its own")
    with skipped_without_neo4j():
        return tmp_path / "home"


@contextmanager
def started(home, **settings):
    with skipped_without_neo4j(), own_server(home, is_brief=True, **settings) as found:
        yield found


def test_a_wrong_password_is_tried_once_and_never_shown(server_home, monkeypatch):
    with started(server_home, auth=True) as (server, _):
        with neo4j.GraphDatabase.driver(server.uri, auth=("neo4j", "neo4j")) as driver:
            driver.execute_query(
                "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO 'right-password'",
                database_="system",
            )
        with pytest.raises(GraphUnreachable, match="set NEO4J_PASSWORD"):
            open_graph(server.uri)
        for _ in range(2):
            monkeypatch.setenv("NEO4J_PASSWORD", "wrong-password")
            with pytest.raises(GraphUnreachable, match="refuses the password") as told:
                open_graph(server.uri)
            assert "wrong-password" not in str(told.value)
        monkeypatch.delenv("NEO4J_PASSWORD")
        asked = []

        def answer(user):
            asked.append(user)
            return "right-password"

        with open_graph(server.uri, ask_password=answer) as graph:
            assert cells(graph, "RETURN 1 AS one") == [1]
        assert asked == ["neo4j"]
        monkeypatch.setenv("NEO4J_PASSWORD", "right-password")
        monkeypatch.setenv("NEO4J_DATABASE", "nowhere")
        with pytest.raises(Exception, match="nowhere"):
            open_graph(server.uri)


@pytest.fixture
def newest_server(server_home):
    """A server of the newest version; skips where no Java is new enough, whatever is required."""
    if VERSION == NEWEST:
        pytest.skip("all tests are of the newest version")
    try:
        with own_server(server_home, version=NEWEST, is_brief=True) as (server, _):
            yield server
    except NoNeo4j as reason:
        pytest.skip(str(reason))


def test_the_newest_version_holds_and_answers_what_the_file_does(newest_server, tmp_path):
    runs = write_runs(tmp_path / "runs")
    changed = STEM.format(number=1, module="jit_f")
    asked: dict[str, Any] = {
        "compilation": f"before/{changed}",
        "value": "t",
        "allocation": 2,
        "opName": "jit(f)/layer_0/dot",
        "runA": "before",
        "runB": "after",
    }

    def both_hold_the_same():
        found, expected = (
            cells(one, "MATCH (c:Compilation) RETURN c.key AS key ORDER BY key")
            for one in (graph, file)
        )
        assert found == expected
        for key in found:
            read, expected = (facts(one.read(key), without=["ingestedAt"]) for one in (graph, file))
            assert read == expected
        assert_nothing_is_left_over(graph)

    with (
        open_graph(newest_server.uri) as graph,
        open_graph(tmp_path / "g.lbug", create=True) as file,
    ):
        assert graph.versions["neo4j server"] == NEWEST
        for one in (graph, file):
            assert ingest(one, runs, jobs=1).ok
        both_hold_the_same()
        for query in load_catalogue().values():
            given = {item.name: asked.get(item.name, item.default) for item in query.parameters}
            found, expected = (
                untimed(one.query(query.text, given).mappings()) for one in (graph, file)
            )
            assert found == expected, query.id
        write_dump(runs / "before", 1, "jit_f", dump(1024))
        for one in (graph, file):
            assert ingest(one, runs, jobs=1).updated == (f"before/{changed}",)
        both_hold_the_same()
        for one in (graph, file):
            remove(one, "before")
        both_hold_the_same()
