"""Simultaneous writers: in parallel on a server, in turn on a file; nothing is lost."""

import os
import random
from pathlib import Path

import pytest

from tests.faults.harness.changing_dumps import ChangingDumps
from tests.faults.harness.forked_commands import Commands
from tests.faults.harness.graph_states import CleanGraphs, all_rows
from tests.graph.neo4j.leftovers import assert_no_leftovers
from tests.neo4j_server.server import Neo4jServer
from tests.tiny_dumps import write_runs
from xlagraph.graph import Graph, GraphBusy, open_graph

WRITERS = 8


def ingest_at_once(
    commands: Commands, location: str | Path, dumps: ChangingDumps, clean: CleanGraphs
) -> None:
    """Run eight processes, each with different folders, like the jobs of a team."""
    folders = ([dumps.folder], [dumps.folder / "alpha"], [dumps.folder / "beta"])
    for _ in range(2):
        running = [
            commands.start("ingest", *folders[number % 3], "--graph", location)
            for number in range(WRITERS)
        ]
        for each in running:
            ended = each.wait()
            assert ended.code == 0, ended
            assert "Traceback" not in ended.err
        with open_graph(str(location)) as graph, clean.of(dumps.texts) as expected:
            assert all_rows(graph) == all_rows(expected)
        dumps.change()  # now all of them replace


def test_eight_writers_into_one_server_give_the_graph_of_one(
    commands: Commands, tmp_path: Path, neo4j_graph: Graph, neo4j_server: Neo4jServer
):
    dumps = ChangingDumps(tmp_path / "runs", random.Random(8), wide=100)
    ingest_at_once(commands, neo4j_server.uri, dumps, CleanGraphs(tmp_path / "clean"))
    assert_no_leftovers(neo4j_graph)


def test_eight_writers_into_one_file_give_the_graph_of_one(
    commands: Commands, tmp_path: Path, no_connection_named: None
):
    dumps = ChangingDumps(tmp_path / "runs", random.Random(8), wide=100)
    ingest_at_once(commands, tmp_path / "g.lbug", dumps, CleanGraphs(tmp_path / "clean"))


def test_simultaneous_removals_and_ingests_lose_and_orphan_no_shared_node(
    commands: Commands, tmp_path: Path, neo4j_graph: Graph, neo4j_server: Neo4jServer
):
    dumps = ChangingDumps(tmp_path / "runs", random.Random(9), wide=100)
    uri = neo4j_server.uri
    assert commands.run("ingest", dumps.folder / "beta", "--graph", uri).code == 0
    for _ in range(2):
        running = [
            commands.start("ingest", dumps.folder / "alpha", "--graph", uri),
            commands.start("remove", "beta", "--yes", "--graph", uri),
        ]
        for each in running:
            ended = each.wait()
            assert ended.code == 0, ended
        running = [
            commands.start("remove", "alpha", "--yes", "--graph", uri),
            commands.start("ingest", dumps.folder / "beta", "--graph", uri),
        ]
        for each in running:
            ended = each.wait()
            assert ended.code == 0, ended
    with CleanGraphs(tmp_path / "clean").of(dumps.run_of("beta")) as expected:
        assert all_rows(neo4j_graph) == all_rows(expected)
    assert_no_leftovers(neo4j_graph)


def test_a_second_writer_of_a_file_names_the_writer_that_it_waits_for(
    commands: Commands, tmp_path: Path, no_connection_named: None
):
    file = tmp_path / "g.lbug"
    with open_graph(file, create=True) as graph:
        with graph.load():
            waiting = commands.start("ingest", write_runs(tmp_path / "runs"), "--graph", file)
            waiting.wait_for_text("waiting for it")
        ended = waiting.wait()
    assert ended.code == 0
    assert "is being written by process" in ended.err


def test_a_second_writer_that_does_not_wait_names_the_other(
    tmp_path: Path, no_connection_named: None
):
    file = tmp_path / "g.lbug"
    with (
        open_graph(file, create=True) as first,
        open_graph(file, create=True, wait=False) as second,
        first.load(),
        pytest.raises(GraphBusy, match=f"is being written by process {os.getpid()} on"),
        second.load(),
    ):
        pass
