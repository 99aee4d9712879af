"""Rewrites a graph file without the space of deleted rows, which the engine never frees."""

from collections.abc import Mapping
from pathlib import Path

import ladybug

from xlagraph.graph.errors import GraphUnwritable
from xlagraph.graph.ladybug import schema_statements
from xlagraph.graph.ladybug.database import create_tables, open_database
from xlagraph.graph.ladybug.file_changes import (
    MAX_COPIED_NODES,
    MAX_COPIED_RELATIONSHIPS,
    NODE_LABELS,
    RELATIONSHIP_TYPES,
    copy_rows,
    count_rows,
)
from xlagraph.graph.schema import SCHEMA

__all__ = ["compact"]


def compact(path: Path, folder: Path) -> None:
    """Replace a graph file that is not in use with a compact one of the same rows.

    A graph with more rows in a table than one COPY takes stays as it is. ``folder`` takes the
    new file, and the rows in files of their own, in the meantime. Raises RuntimeError if the
    engine fails, GraphUnwritable if it loses rows; the file is as before then.
    """
    counts = _write_tables(path, folder)
    if counts is None:
        return
    compacted = folder / "compacted.lbug"
    database = open_database(compacted)
    try:
        connection = ladybug.Connection(database)
        create_tables(connection)
        for name in (*NODE_LABELS, *RELATIONSHIP_TYPES):  # nodes first: relationships need them
            if counts[name]:
                copy_rows(connection, name, [_file(folder, name)])
        found = count_rows(connection)
        connection.execute("CHECKPOINT")
        connection.close()
    finally:
        database.close()
    for name, count in counts.items():
        if found[name] != count:
            raise GraphUnwritable(
                f"{path} could not be rewritten: expected {count} rows of {name}, the engine kept"
                f" {found[name]}"
            )
    compacted.replace(path)


def _write_tables(path: Path, folder: Path) -> Mapping[str, int] | None:
    """Write each table that has rows into a file; return how many, None if there are too many."""
    database = open_database(path, read_only=True)
    try:
        connection = ladybug.Connection(database)
        counts = count_rows(connection)
        if _are_too_many(counts):
            return None
        for node in SCHEMA.nodes:
            if counts[node.label]:
                file = _file(folder, node.label)
                connection.execute(schema_statements.write_nodes(node, file))
        for relationship in SCHEMA.relationships:
            if counts[relationship.name]:
                file = _file(folder, relationship.name)
                connection.execute(schema_statements.write_relationships(relationship, file))
        connection.close()
    finally:
        database.close()
    return counts


def _are_too_many(counts: Mapping[str, int]) -> bool:
    return (
        max(counts[label] for label in NODE_LABELS) > MAX_COPIED_NODES
        or max(counts[name] for name in RELATIONSHIP_TYPES) > MAX_COPIED_RELATIONSHIPS
    )


def _file(folder: Path, table: str) -> Path:
    return folder / f"compacted-{table}.parquet"
