"""The statements that change a copy of a graph file; COPY where it pays."""

import glob
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import ladybug

from xlagraph.graph.engine import Cell
from xlagraph.graph.ladybug.database import rows_of
from xlagraph.graph.schema import PARTS, SCHEMA, UNCHANGING

NODE_LABELS: Final = tuple(node.label for node in SCHEMA.nodes)
RELATIONSHIP_TYPES: Final = tuple(relationship.name for relationship in SCHEMA.relationships)


def copy_rows(connection: ladybug.Connection, table: str, files: Iterable[Path]) -> None:
    """Add the rows of some files to a table, all in one COPY."""
    connection.execute(f"COPY `{table}` FROM {_quoted(files)}")


def create_rows(connection: ladybug.Connection, table: str, files: Iterable[Path]) -> None:
    """Add a few relationships to many; nodes are copied, which costs by those that come."""
    if table in NODE_LABELS:
        copy_rows(connection, table, files)
        return
    relationship = SCHEMA.relationship(table)
    properties = ", ".join(
        f"`{property_.name}`: `{property_.name}`" for property_ in relationship.properties
    )
    connection.execute(
        f"LOAD FROM {_quoted(files)} "
        f"MATCH (a:`{relationship.source}` {{key: `source`}}) "
        f"MATCH (b:`{relationship.target}` {{key: `target`}}) "
        f"CREATE (a)-[:`{table}` {{{properties}}}]->(b)"
    )


def _quoted(files: Iterable[Path]) -> str:
    # the engine takes each for a pattern
    texts = (glob.escape(str(path)).replace("\\", "\\\\").replace("'", "\\'") for path in files)
    return "[" + ", ".join(f"'{text}'" for text in texts) + "]"


def count_rows(connection: ladybug.Connection) -> dict[str, int]:
    """Count the rows of every table."""
    texts = {name: f"MATCH (n:`{name}`) RETURN count(*)" for name in NODE_LABELS}
    texts |= {name: f"MATCH ()-[r:`{name}`]->() RETURN count(*)" for name in RELATIONSHIP_TYPES}
    return {name: int(str(rows_of(connection, text)[0][0])) for name, text in texts.items()}


def set_run(
    connection: ladybug.Connection, key: str, run: Mapping[str, Cell], *, create: bool = True
) -> None:
    """Set properties of a run, which is made if it is not there, unless only changed."""
    given = {name: value for name, value in run.items() if name != "key"}
    assignments = ", ".join(f"n.`{name}` = ${name}" for name in given)
    find = "MERGE" if create else "MATCH"
    connection.execute(f"{find} (n:Run {{key: $key}}) SET {assignments}", {"key": key, **given})


def delete_compilations(connection: ladybug.Connection, compilations: list[str]) -> None:
    """Delete compilations with their parts."""
    # by scanning: a table is read once for all of them, and no part is missed
    for node in PARTS:
        connection.execute(
            f"UNWIND $keys AS stale MATCH (n:`{node.label}`) WHERE n.compilation = stale "
            "DETACH DELETE n",
            {"keys": compilations},
        )
    connection.execute(
        "UNWIND $keys AS stale MATCH (n:Compilation {key: stale}) DETACH DELETE n",
        {"keys": compilations},
    )


def delete_orphans(connection: ladybug.Connection) -> None:
    """Delete shared nodes that nothing uses: no run without compilations, the others unreached."""
    connection.execute(
        "MATCH (n:Run) WHERE NOT EXISTS { MATCH (n)-[:COMPILED]->() } DETACH DELETE n"
    )
    has_deleted = True
    while has_deleted:  # what only a deleted node used goes in the next turn
        has_deleted = False
        for label in sorted(UNCHANGING):
            unused = f"MATCH (n:`{label}`) WHERE {_is_unused(label)}"
            if rows_of(connection, f"{unused} RETURN count(*)")[0][0]:
                connection.execute(f"{unused} DETACH DELETE n")
                has_deleted = True


def _is_unused(label: str) -> str:
    return " AND ".join(
        f"NOT EXISTS {{ MATCH (n)<-[:`{relationship.name}`]-() }}"
        for relationship in SCHEMA.arriving_at(label)
    )
