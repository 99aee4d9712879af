"""A page is the same for both engines."""

from pathlib import Path

from tests.tiny_dumps import write_runs
from xlagraph.graph import Graph
from xlagraph.ingest import ingest
from xlagraph.report import compilation_part


def test_both_engines_make_the_same_bytes(
    embedded_graph: Graph, neo4j_graph: Graph, tmp_path: Path
) -> None:
    runs = write_runs(tmp_path / "runs")
    for graph in (embedded_graph, neo4j_graph):
        assert ingest(graph, runs, jobs=1).ok
    for (key,) in embedded_graph.query("MATCH (c:Compilation) RETURN c.key AS key").rows:
        parts = [compilation_part(graph, str(key)) for graph in (embedded_graph, neo4j_graph)]
        assert parts[0] == parts[1]
        assert parts[0].packed() == parts[1].packed()
