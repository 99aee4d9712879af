"""Loads into a server: killed, concurrent, and seen by readers."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.graph.made_rows import facts, made_rows
from tests.graph.neo4j.leftovers import assert_no_leftovers, first_column
from tests.tiny_dumps import dump, write_dump
from xlagraph.graph import GraphBusy, open_graph, remove
from xlagraph.graph.neo4j import schema_statements
from xlagraph.graph.schema import SCHEMA
from xlagraph.ingest import ingest

REMOVER = """
import sys
from xlagraph.graph import open_graph, remove
from xlagraph.graph.neo4j import transactions
transactions.DELETE_LIMIT = 50
with open_graph(sys.argv[1]) as graph:
    print("began", flush=True)
    remove(graph, "baseline")
"""

LARGE = 300
"""Values of a compilation that takes a batch of several transactions, with `small_batches`."""

pytestmark = pytest.mark.usefixtures("no_connection_named")


@pytest.fixture
def small_batches(monkeypatch):
    """Set the limits of batches and transactions so low that small graphs exceed them."""
    monkeypatch.setattr("xlagraph.graph.neo4j.load.BATCH_ROWS", 2000)
    monkeypatch.setattr("xlagraph.graph.neo4j.transactions.WRITE_LIMIT", 500)


def test_procedures_that_list_names_in_the_graph_are_allowed(neo4j_graph):
    with neo4j_graph.load() as load:
        load.write(made_rows())
    labels = first_column(neo4j_graph, "CALL db.labels() YIELD label RETURN label")
    assert "Compilation" in labels
    text = "MATCH (v:Value) CALL (v) { RETURN v.valueId AS id } RETURN max(id) AS id"
    assert first_column(neo4j_graph, text) == [3]


def test_pictures_of_the_schema_show_only_the_schema(neo4j_graph):
    with neo4j_graph.load() as load:
        load.write(made_rows())
    text = "CALL db.schema.visualization() YIELD nodes UNWIND nodes AS n RETURN n AS node"
    shown = {node["name"] for node in first_column(neo4j_graph, text)}
    assert shown == {node.label for node in SCHEMA.nodes}
    labels = first_column(neo4j_graph, "CALL db.labels() YIELD label RETURN label")
    assert set(labels) == shown


def test_an_incomplete_compilation_is_hidden(neo4j_graph, small_batches):
    """Two batches are written at once: the first is replaced, the second is new."""
    old, new, other = (
        made_rows(values=60, sha256="1"),
        made_rows(values=LARGE, sha256="2"),
        made_rows(stem="other", values=LARGE, sha256="3"),
    )
    with neo4j_graph.load() as load:
        load.write(old)
    seen: set[object] = set()
    is_over = threading.Event()

    def look():
        while not is_over.is_set():
            found = neo4j_graph.query(
                "MATCH (c:Compilation) RETURN c.state AS state, c.sha256 AS digest"
            ).rows
            assert {state for state, _ in found} <= {"complete"}
            seen.update(digest for _, digest in found)
            # the label alone decides: what is hidden never has another state, only none yet
            hidden = first_column(neo4j_graph, "MATCH (c:Loading) RETURN c.state AS state")
            assert set(hidden) <= {"complete", None}
            time.sleep(0.005)  # leaves the processors to the writers

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        try:
            with neo4j_graph.load() as load:  # its end raises what a batch failed with
                load.write(new)
                load.write(other)
        finally:
            is_over.set()
        looking.result()
    assert set() < seen <= {"1", "2", "3"}
    for rows in (new, other):
        assert facts(neo4j_graph.read(rows.compilation)) == facts(rows)
    assert_no_leftovers(neo4j_graph)


def test_a_load_reports_the_share_of_written_rows(neo4j_graph, neo4j_server, small_batches):
    """The second of two batches waits until the first is reported."""
    written, held = made_rows(values=LARGE), made_rows(stem="held")
    shares: list[float] = []
    with neo4j_graph.load():
        pass  # constraints are made by the first, and not next to an open transaction
    with (
        neo4j_server.session() as session,
        session.begin_transaction() as other,
    ):
        other.run("MERGE (c:Compilation {key: $key})", key=held.compilation).consume()

        def report(share):
            shares.append(share)
            if 0 < share < 1 and not other.closed():
                other.rollback()

        with neo4j_graph.load() as load:
            load.watch(report)
            load.write(written)
            load.write(held)
    assert (shares[0], shares[-1]) == (0, 1)
    assert any(0 < share < 1 for share in shares)


def test_an_index_for_which_a_name_is_too_long_is_dropped_and_named(
    neo4j_graph, neo4j_server, tmp_path
):
    name = "jit(f)/" + "a/" * 5000 + "dot"
    write_dump(tmp_path / "runs", 1, "jit_f", dump(64, op=name))
    for statement in (*schema_statements.indexes(), "CALL db.awaitIndexes(300)"):
        neo4j_server.execute(statement)  # another test may have dropped it
    notes: list[str] = []
    with open_graph(neo4j_server.uri, notify=notes.append) as graph:
        assert ingest(graph, tmp_path / "runs", jobs=1).ok
    assert any(note.startswith("the index xlagraph_Op_name is dropped: ") for note in notes)
    found = neo4j_graph.query("MATCH (o:Op {name: $name}) RETURN o.key AS key", {"name": name})
    ((key,),) = found.rows
    assert len(str(key)) < 8000


def test_a_killed_removal_is_ended_by_the_next_load(neo4j_graph):
    rows = made_rows(values=1000)
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
    deadline = time.monotonic() + 180
    while first_column(neo4j_graph, "MATCH (:Run)-[:COMPILED]->() RETURN count(*) AS n") == [1]:
        assert time.monotonic() < deadline
    process.kill()
    process.communicate()
    assert first_column(neo4j_graph, "MATCH (n:Value) RETURN count(*) > 0 AS is_left") == [True]
    with neo4j_graph.load():
        pass
    assert_no_leftovers(neo4j_graph)
    assert first_column(neo4j_graph, "MATCH (n:Value) RETURN count(*) AS n") == [0]


@pytest.fixture
def load_of_another(neo4j_graph, neo4j_server):
    """Return a compilation that another running load has claimed."""
    with neo4j_graph.load():
        pass  # makes the constraints before the claim
    rows = made_rows()
    register = (
        "CREATE (:Load {key: 'other', load: 'other', process: 'elsewhere', count: 0,"
        " heartbeat: timestamp()}) CREATE (:Claim {key: $key, load: 'other', purpose: 'loading'})"
        " CREATE (:Loading {key: $key, state: 'complete'})"
    )
    neo4j_server.execute(register, key=rows.compilation)
    return rows


def test_a_load_waits_for_a_compilation_that_another_load_completes(neo4j_server, load_of_another):
    notes: list[str] = []

    def complete(note: str) -> None:
        notes.append(note)
        neo4j_server.execute(
            "MATCH (k:Claim) MATCH (c:Loading) DELETE k REMOVE c:Loading SET c:Compilation"
        )

    with open_graph(neo4j_server.uri, notify=complete) as graph, graph.load() as load:
        load.write(load_of_another)
    assert notes == [
        f"{load_of_another.compilation} is being loaded by another process; waiting for it"
    ]


def test_a_compilation_that_another_load_gave_up_must_be_ingested_again(
    neo4j_server, load_of_another
):
    def give_up(_: str) -> None:
        neo4j_server.execute("MATCH (n:Claim|Loading) DETACH DELETE n")

    with (
        open_graph(neo4j_server.uri, notify=give_up) as graph,
        pytest.raises(GraphBusy, match="did not complete it: ingest it again"),
        graph.load() as load,
    ):
        load.write(load_of_another)


def test_written_compilations_are_complete_before_later_ones_are_removed(neo4j_graph):
    old, new = made_rows("old"), made_rows("new")
    with neo4j_graph.load() as load:
        load.write(old)
    keys = "MATCH (c:Compilation) RETURN c.key AS key"
    with neo4j_graph.load() as load:
        load.write(new)
        load.remove(old.compilation)
        assert first_column(neo4j_graph, keys) == [new.compilation]
        load.write(old)
    assert sorted(first_column(neo4j_graph, keys)) == [new.compilation, old.compilation]
    assert_no_leftovers(neo4j_graph)


def test_nodes_that_a_load_has_seen_may_be_removed_before_it_uses_them_again(
    neo4j_graph, small_batches
):
    """The scope of one compilation is gone when an op of the next one stands within it."""
    kept = made_rows("kept", op="q/x")  # its source line stays: a miss would make all again
    seen = made_rows("seen", op="p/x", values=LARGE)
    later = made_rows("later", op="p/y")
    with neo4j_graph.load() as load:
        load.write(kept)
    with neo4j_graph.load() as load:
        load.write(seen)
        deadline = time.monotonic() + 180
        while "seen" not in first_column(neo4j_graph, "MATCH (r:Run) RETURN r.key AS run"):
            assert time.monotonic() < deadline
        remove(neo4j_graph, "seen")
        load.write(later)
    for rows in (kept, later):
        assert facts(neo4j_graph.read(rows.compilation)) == facts(rows)
    assert_no_leftovers(neo4j_graph)
