"""Both engines export the same files."""

from pathlib import Path

from tests.exports.small_plans import SMALL, ingest_small
from xlagraph.exports import (
    TableFormat,
    write_perfetto,
    write_pprof,
    write_speedscope,
    write_tables,
    write_xprof,
)
from xlagraph.graph import Graph

_WHEN_AND_WHERE = {"Run", "Compilation"}
"""Tables that contain the ingest's time."""


def export_all(graph: Graph, folder: Path) -> dict[str, bytes]:
    """Return the content of every file by its path."""
    write_pprof(graph, SMALL, folder / "small.pb.gz")
    write_speedscope(graph, SMALL, folder / "small.json")
    write_perfetto(graph, SMALL, folder / "small.pftrace")
    write_xprof(graph, "small", [SMALL], folder)
    write_tables(graph, ["small"], folder, TableFormat.CSV)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name not in _WHEN_AND_WHERE
    }


def sorted_lines(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files with the rows of tables sorted, because a graph has no order."""
    return {
        name: b"\n".join(sorted(content.splitlines())) if name.endswith(".csv") else content
        for name, content in files.items()
    }


def test_engines_export_the_same_files(small: Graph, neo4j_graph: Graph, tmp_path: Path) -> None:
    ingest_small(neo4j_graph, tmp_path / "dumps")
    of_file = export_all(small, tmp_path / "file")
    of_server = export_all(neo4j_graph, tmp_path / "server")
    assert sorted_lines(of_server) == sorted_lines(of_file)
