"""A reader sees the state before or after a change, never one between."""

from pathlib import Path

from tests.faults.harness.changing_dumps import wide_dump
from tests.faults.harness.forked_commands import Commands
from tests.faults.harness.graph_states import all_rows, key_of, put_dump
from tests.faults.harness.watched_replacements import watch_a_file, watch_a_server
from tests.neo4j_server.server import Neo4jServer
from xlagraph.graph import Graph, open_graph

KEY = key_of("alpha", 1, "jit_wide")


def test_a_reader_of_a_file_sees_one_state(
    commands: Commands, tmp_path: Path, no_connection_named: None
):
    assert watch_a_file(commands, tmp_path, rounds=2, seed=4, queries=12)


def test_an_open_file_shows_the_state_at_the_time_of_opening(
    commands: Commands, tmp_path: Path, no_connection_named: None
):
    file, folder = tmp_path / "g.lbug", tmp_path / "runs"
    put_dump(folder, KEY, wide_dump(20))
    assert commands.run("ingest", folder, "--graph", file).code == 0
    with open_graph(file) as graph:
        before = all_rows(graph)
        put_dump(folder, KEY, wide_dump(30))
        assert commands.run("ingest", folder, "--graph", file).code == 0
        assert all_rows(graph) == before
    with open_graph(file) as graph:
        assert all_rows(graph) != before


def test_a_reader_of_a_server_sees_a_complete_compilation_or_none(
    commands: Commands, tmp_path: Path, neo4j_graph: Graph, neo4j_server: Neo4jServer
):
    assert watch_a_server(
        commands, tmp_path, neo4j_graph, neo4j_server.uri, rounds=2, seed=4, queries=12
    )
