"""Open files of the embedded engine, and create the tables of the schema in them."""

from pathlib import Path
from typing import Final, cast

import ladybug

from xlagraph.graph.engine import Cell
from xlagraph.graph.ladybug import schema_statements
from xlagraph.graph.schema import VERSION
from xlagraph.graph.statement_files import load_statement

BUFFER_POOL_BYTES: Final = 1 << 30
"""Bytes of a file that the engine may keep in memory; its default is 80 % of the machine."""

MOST_BYTES: Final = 1 << 38
"""Addresses that each open file reserves, and its largest size. The engine's default, 8 TiB, allows
15 open files in a process."""

NO_ADDRESSES: Final = (
    "the engine reserves 256 GiB of addresses for each open graph, and this process may not (see"
    " `ulimit -v`); close graphs and plans that are no longer needed"
)

_CREATE_VERSION_TABLE: Final = load_statement(__file__, "create-version-table")
_SET_VERSION: Final = load_statement(__file__, "set-version")
_STORED_VERSION: Final = load_statement(__file__, "stored-version")


def open_database(path: Path, *, read_only: bool = False) -> ladybug.Database:
    """Open a file with our limits; RuntimeError if the engine rejects it."""
    return ladybug.Database(
        path, buffer_pool_size=BUFFER_POOL_BYTES, max_db_size=MOST_BYTES, read_only=read_only
    )


def create_tables(connection: ladybug.Connection) -> None:
    """Create the tables of the schema, and note its version, in one transaction."""
    connection.execute("BEGIN TRANSACTION")
    connection.execute(_CREATE_VERSION_TABLE)
    connection.execute(_SET_VERSION, {"version": VERSION})
    for statement in schema_statements.create_tables():
        connection.execute(statement)
    connection.execute("COMMIT")


def schema_version(connection: ladybug.Connection) -> int | None:
    """Read the version of the schema; None if the database is not an xlagraph graph."""
    try:
        rows = rows_of(connection, _STORED_VERSION)
    except RuntimeError:
        return None
    return int(str(rows[0][0])) if rows else None


def rows_of(connection: ladybug.Connection, text: str) -> list[list[Cell]]:
    """Run a statement and return its rows."""
    # a single statement has a single result, and its rows are lists by default
    found = cast("ladybug.QueryResult", connection.execute(text))
    with found:
        return cast("list[list[Cell]]", found.get_all())
