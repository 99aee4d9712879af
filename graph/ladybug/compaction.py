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
from xlagraph.graph.row_files import RowFiles
from xlagraph.graph.schema import SCHEMA


def compact(path: Path, folder: Path) -> None:
    """Replace a graph file that is not in use with a compact one of the same rows.

    A graph with more rows in a table than one COPY takes stays as it is. ``folder`` takes the
    new file, and the rows in files of their own, in the meantime. Raises RuntimeError if the
    engine fails, GraphUnwritable if it loses rows; the file is as before then.
    """
    stored = stored_rows(path, folder)
    if stored is None:
        return
    compacted = folder / "compacted.lbug"
    database = open_database(compacted)
    try:
        connection = ladybug.Connection(database)
        create_tables(connection)
        for name in stored.counts:
            copy_rows(connection, name, [stored.path(name)])
        found = count_rows(connection, stored.counts)
        connection.execute("CHECKPOINT")
        connection.close()
    finally:
        database.close()
    for name, count in stored.counts.items():
        if found[name] != count:
            raise GraphUnwritable(
                f"{path} could not be rewritten: expected {count} rows of {name}, the engine kept"
                f" {found[name]}"
            )
    compacted.replace(path)


def stored_rows(path: Path, folder: Path) -> RowFiles | None:
    """Write the rows of a graph file, nodes first; None if one COPY cannot take those of a table.

    The files are in a new folder. Raises RuntimeError if the engine fails.
    """
    database = open_database(path, read_only=True)
    try:
        connection = ladybug.Connection(database)
        counts = count_rows(connection, (*NODE_LABELS, *RELATIONSHIP_TYPES))
        if _are_too_many(counts):
            return None
        stored = RowFiles(
            folder / "stored", {name: rows for name, rows in counts.items() if rows}, {}
        )
        stored.folder.mkdir()
        for node in SCHEMA.nodes:
            if node.label in stored.counts:
                file = stored.path(node.label)
                connection.execute(schema_statements.write_nodes(node, file))
        for relationship in SCHEMA.relationships:
            if relationship.name in stored.counts:
                file = stored.path(relationship.name)
                connection.execute(schema_statements.write_relationships(relationship, file))
        connection.close()
    finally:
        database.close()
    return stored


def _are_too_many(counts: Mapping[str, int]) -> bool:
    return (
        max(counts[label] for label in NODE_LABELS) > MAX_COPIED_NODES
        or max(counts[name] for name in RELATIONSHIP_TYPES) > MAX_COPIED_RELATIONSHIPS
    )
