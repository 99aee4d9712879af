"""Opens files of the embedded engine, and makes the tables of the schema in them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

import ladybug

from xlagraph.graph.engine import Cell
from xlagraph.graph.schema import SCHEMA, VERSION
from xlagraph.graph.schema_types import PropertyType

BUFFER_POOL_BYTES: Final = 1 << 30
"""What the engine may keep of a file in memory; its own default is 80 % of the machine."""

NO_ADDRESSES: Final = (
    "the engine reserves 8 TiB of addresses, and this process may not (see `ulimit -v`)"
)

_COLUMN_TYPES: Final[Mapping[PropertyType, str]] = {
    PropertyType.STRING: "STRING",
    PropertyType.INTEGER: "INT64",
    PropertyType.BOOLEAN: "BOOLEAN",
    PropertyType.STRING_LIST: "STRING[]",
}


def open_database(path: Path, *, read_only: bool = False) -> ladybug.Database:
    """Open a file with our limits; RuntimeError if the engine does not take it."""
    return ladybug.Database(path, buffer_pool_size=BUFFER_POOL_BYTES, read_only=read_only)


def create_tables(connection: ladybug.Connection) -> None:
    """Create the tables of the schema, and note its version."""
    connection.execute("CREATE NODE TABLE Schema(`key` STRING, version INT64, PRIMARY KEY(`key`))")
    connection.execute(
        "CREATE (:Schema {key: 'xlagraph', version: $version})", {"version": VERSION}
    )
    for node in SCHEMA.nodes:
        columns = ", ".join(
            f"`{property_.name}` {_COLUMN_TYPES[property_.type]}" for property_ in node.properties
        )
        connection.execute(f"CREATE NODE TABLE `{node.label}`({columns}, PRIMARY KEY(`key`))")
    for relationship in SCHEMA.relationships:
        columns = "".join(
            f", `{property_.name}` {_COLUMN_TYPES[property_.type]}"
            for property_ in relationship.properties
        )
        connection.execute(
            f"CREATE REL TABLE `{relationship.name}`"
            f"(FROM `{relationship.source}` TO `{relationship.target}`{columns})"
        )


def schema_version(connection: ladybug.Connection) -> int | None:
    """Read the version of the schema; None in a database that is not a graph of ours."""
    try:
        rows = rows_of(connection, "MATCH (s:Schema {key: 'xlagraph'}) RETURN s.version AS version")
    except RuntimeError:
        return None
    return int(str(rows[0][0])) if rows else None


def rows_of(
    connection: ladybug.Connection, text: str, parameters: Mapping[str, Cell] | None = None
) -> list[list[Cell]]:
    """Run a statement and return its rows."""
    # one statement has one result, and its rows are lists unless asked otherwise
    found = cast("ladybug.QueryResult", connection.execute(text, dict(parameters or {})))
    with found:
        return cast("list[list[Cell]]", found.get_all())
