"""What the numbers are compared with; written without a look at how xlagraph does it."""

import shutil
from collections.abc import Iterable
from pathlib import Path

import ladybug

from xlagraph.graph.schema import SCHEMA, Property, PropertyType

POOL_BYTES = 1 << 30
COLUMN_TYPES = {
    PropertyType.STRING: "STRING",
    PropertyType.INTEGER: "INT64",
    PropertyType.BOOLEAN: "BOOL",
    PropertyType.STRING_LIST: "STRING[]",
}


def copy_into_new_database(rows: Path, path: Path) -> None:
    """Let the embedded engine COPY tables from Parquet into a database that is not there yet."""
    database = ladybug.Database(path, buffer_pool_size=POOL_BYTES)
    connection = ladybug.Connection(database)
    for node in SCHEMA.nodes:
        columns = _columns(node.properties)
        connection.execute(f"CREATE NODE TABLE {node.label}({columns}, PRIMARY KEY(key))")
        _copy(connection, node.label, rows)
    for item in SCHEMA.relationships:
        columns = "".join(
            [f", {column}" for column in _columns(item.properties).split(", ") if column]
        )
        connection.execute(
            f"CREATE REL TABLE {item.name}(FROM {item.source} TO {item.target}{columns})"
        )
        _copy(connection, item.name, rows)
    connection.execute("CHECKPOINT")
    connection.close()
    database.close()


def _columns(properties: Iterable[Property]) -> str:
    return ", ".join([f"{item.name} {COLUMN_TYPES[item.type]}" for item in properties])


def _copy(connection: ladybug.Connection, table: str, rows: Path) -> None:
    path = rows / f"{table}.parquet"
    if path.exists():
        connection.execute(f"COPY {table} FROM '{path}'")


def copy_file(source: Path, target: Path) -> None:
    """Copy a file once."""
    shutil.copyfile(source, target)


def count_lines(paths: Iterable[Path]) -> int:
    """Count lines as Python does most simply."""
    count = 0
    for path in paths:
        with path.open(encoding="utf-8") as file:
            for _ in file:
                count += 1
    return count
