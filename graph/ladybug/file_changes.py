"""Changes to a copy of a graph file, by COPY where that is faster."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import ladybug

from xlagraph.graph.engine import Cell
from xlagraph.graph.ladybug import schema_statements
from xlagraph.graph.ladybug.database import rows_of
from xlagraph.graph.row_files import RowFiles
from xlagraph.graph.schema import IMMUTABLE_LABELS, PARTS, SCHEMA
from xlagraph.graph.statement_files import load_statement

NODE_LABELS: Final = tuple(node.label for node in SCHEMA.nodes)
RELATIONSHIP_TYPES: Final = tuple(relationship.name for relationship in SCHEMA.relationships)

# Rows of one COPY. The engine fails if it needs more memory than its pool has: at three million
# nodes with 256 MiB, and at about four times as many with the 1 GiB that it gets here. Another
# COPY into the same table only takes more time.
MAX_COPIED_NODES: Final = 2_000_000
MAX_COPIED_RELATIONSHIPS: Final = 8_000_000

# Up to this number of new nodes, creating them one by one takes less time than a COPY.
FEW_NODES: Final = 500

# The cost of COPY into relationships grows with the existing ones: 0.4 s for a million. The cost
# of creating them one by one grows with the new ones.
_COPIED_ROWS_PER_NEW_ROW: Final = 4

_COUNT_NODES: Final = load_statement(__file__, "count-nodes")
_COUNT_RELATIONSHIPS: Final = load_statement(__file__, "count-relationships")
_DELETE_COMPILATIONS: Final = load_statement(__file__, "delete-compilations")


def portions(sources: Sequence[RowFiles], name: str) -> Iterator[list[RowFiles]]:
    """Split a table's files into groups, one for each COPY."""
    most = MAX_COPIED_NODES if name in NODE_LABELS else MAX_COPIED_RELATIONSHIPS
    portion: list[RowFiles] = []
    rows = 0
    for files in sources:
        portion.append(files)
        rows += files.counts[name]
        if rows >= most:
            yield portion
            portion, rows = [], 0
    if portion:
        yield portion


def copy_rows(connection: ladybug.Connection, table: str, files: Iterable[Path]) -> None:
    """Add the rows of some files to a table, all in one COPY."""
    connection.execute(schema_statements.copy_rows(table, files))


def are_few(table: str, added: int, before: int) -> bool:
    """Return True if creating new rows one by one takes less time than a COPY."""
    if table in NODE_LABELS:
        return added <= FEW_NODES
    return added * _COPIED_ROWS_PER_NEW_ROW < before


def create_rows(connection: ladybug.Connection, table: str, files: Iterable[Path]) -> None:
    """Add the rows of some files to a table one by one."""
    connection.execute(
        schema_statements.create_nodes(SCHEMA.node(table), files)
        if table in NODE_LABELS
        else schema_statements.create_relationships(SCHEMA.relationship(table), files)
    )


def count_rows(connection: ladybug.Connection, tables: Iterable[str]) -> dict[str, int]:
    """Count the rows of tables, which are labels and types."""
    texts = {
        name: schema_statements.count_nodes(name)
        if name in NODE_LABELS
        else schema_statements.count_relationships(name)
        for name in tables
    }
    return {name: _count(connection, text) for name, text in texts.items()}


def count_all_rows(connection: ladybug.Connection) -> dict[str, int]:
    """Count the rows of all tables that have any; faster than one by one if there are few rows."""
    rows = chain.from_iterable(
        rows_of(connection, text) for text in (_COUNT_NODES, _COUNT_RELATIONSHIPS)
    )
    return {str(name): int(str(count)) for name, count in rows}


def set_run(
    connection: ladybug.Connection, key: str, run: Mapping[str, Cell], *, create: bool = True
) -> None:
    """Set properties of a run; ``create`` adds the run if it does not exist."""
    given = {name: value for name, value in run.items() if name != "key"}
    connection.execute(schema_statements.set_run(given, create=create), {"key": key, **given})


def delete_compilations(connection: ladybug.Connection, compilations: list[str]) -> None:
    """Delete compilations with their parts."""
    for node in PARTS:
        connection.execute(schema_statements.delete_parts(node), {"keys": compilations})
    connection.execute(_DELETE_COMPILATIONS, {"keys": compilations})


def delete_orphans(connection: ladybug.Connection) -> None:
    """Delete runs without compilations, then other shared nodes without references.

    This is repeated until none is left.
    """
    _delete_unused(connection, "Run")
    labels = sorted(IMMUTABLE_LABELS)
    # the next turn deletes nodes that only deleted nodes used
    while sum(_delete_unused(connection, label) for label in labels):
        pass


def _delete_unused(connection: ladybug.Connection, label: str) -> int:
    """Delete the unused nodes of a label; return how many."""
    unused = _count(connection, schema_statements.count_unused(label))
    if unused:
        connection.execute(schema_statements.delete_unused(label))
    return unused


def _count(connection: ladybug.Connection, text: str) -> int:
    return int(str(rows_of(connection, text)[0][0]))
