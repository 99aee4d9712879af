"""A process killed while it writes leaves nothing half visible, and no garbage."""

from pathlib import Path

from tests.faults.harness.forked_commands import Commands
from tests.faults.harness.kills import kill_many
from tests.neo4j_server.server import Neo4jServer
from xlagraph.graph import Graph


def test_a_killed_writer_leaves_the_file_as_before_or_as_after(
    commands: Commands, tmp_path: Path, no_connection_named: None
):
    (tmp_path / "graph").mkdir()
    kill_many(commands, tmp_path / "graph" / "g.lbug", tmp_path, seed=1, kills=3, wide=60)


def test_a_killed_writer_leaves_complete_compilations_on_a_server(
    commands: Commands, tmp_path: Path, neo4j_graph: Graph, neo4j_server: Neo4jServer
):
    kill_many(commands, neo4j_server.uri, tmp_path, seed=1, kills=3, wide=60)
