"""References on the embedded engine, written independently of xlagraph."""

import shutil
import time
from collections.abc import Iterable
from pathlib import Path

import ladybug

from xlagraph.graph.schema import SCHEMA
from xlagraph.graph.schema_types import Property, PropertyType, RelationshipType

POOL_BYTES = 1 << 30
COLUMN_TYPES = {
    PropertyType.STRING: "STRING",
    PropertyType.INTEGER: "INT64",
    PropertyType.BOOLEAN: "BOOL",
    PropertyType.STRING_LIST: "STRING[]",
}


def copy_into_new_database(path: Path, rows: Path) -> None:
    """Copy tables from Parquet into a new database of the embedded engine."""
    database = ladybug.Database(path, buffer_pool_size=POOL_BYTES)
    connection = ladybug.Connection(database)
    for node in SCHEMA.nodes:
        columns = ", ".join([*_columns(node.properties), "PRIMARY KEY(key)"])
        connection.execute(f"CREATE NODE TABLE {node.label}({columns})")
        _copy(connection, node.label, rows)
    for relationship in SCHEMA.relationships:
        columns = ", ".join(
            [
                f"FROM {relationship.source} TO {relationship.target}",
                *_columns(relationship.properties),
            ]
        )
        connection.execute(f"CREATE REL TABLE {relationship.name}({columns})")
        _copy(connection, relationship.name, rows)
    connection.execute("CHECKPOINT")
    connection.close()
    database.close()


def add_to_database(path: Path, rows: Path) -> float:
    """Add a few new rows to many with the embedded engine; return the seconds of CHECKPOINT.

    This is the fastest known way: nodes by COPY, relationships one by one, in one transaction.
    """
    database = ladybug.Database(path, buffer_pool_size=POOL_BYTES, auto_checkpoint=False)
    connection = ladybug.Connection(database)
    connection.execute("BEGIN TRANSACTION")
    for node in SCHEMA.nodes:
        _copy(connection, node.label, rows)
    for relationship in SCHEMA.relationships:
        _create(connection, relationship, rows)
    connection.execute("COMMIT")
    start = time.perf_counter()
    connection.execute("CHECKPOINT")
    seconds = time.perf_counter() - start
    connection.close()
    database.close()
    return seconds


def _columns(properties: Iterable[Property]) -> list[str]:
    return [f"{property_.name} {COLUMN_TYPES[property_.type]}" for property_ in properties]


def _copy(connection: ladybug.Connection, table: str, rows: Path) -> None:
    path = rows / f"{table}.parquet"
    if path.exists():
        connection.execute(f"COPY {table} FROM '{path}'")


def _create(connection: ladybug.Connection, relationship: RelationshipType, rows: Path) -> None:
    path = rows / f"{relationship.name}.parquet"
    if path.exists():
        properties = ", ".join(f"{part.name}: {part.name}" for part in relationship.properties)
        # two MATCHes: with both ends in one, the engine reads whole tables
        connection.execute(
            f"LOAD FROM '{path}' MATCH (a:{relationship.source} {{key: `from`}}) "
            f"MATCH (b:{relationship.target} {{key: `to`}}) "
            f"CREATE (a)-[:{relationship.name} {{{properties}}}]->(b)"
        )


def copy_file(source: Path, target: Path) -> None:
    """Copy a file once."""
    shutil.copyfile(source, target)


def count_lines(paths: Iterable[Path]) -> int:
    """Count lines in the simplest way of Python."""
    count = 0
    for path in paths:
        with path.open(encoding="utf-8") as file:
            for _ in file:
                count += 1
    return count
