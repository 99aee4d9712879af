"""Sorted tables of an export, to compare two exports."""

from pathlib import Path

from xlagraph.graph.neo4j.manifest import read_manifest


def sorted_tables(folder: Path) -> dict[str, bytes]:
    """Return the sorted rows of each table, byte for byte."""
    return {
        table: b"".join(
            sorted(line for file in files for line in (folder / file).read_bytes().splitlines(True))
        )
        for table, files in read_manifest(folder).files.items()
    }
