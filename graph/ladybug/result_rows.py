"""Reads the rows of an embedded engine's result."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, Unpack, cast
from uuid import UUID

import ladybug

from xlagraph.graph import row_cells
from xlagraph.graph.engine import Cell, QueryLimits
from xlagraph.graph.errors import QueryFailed
from xlagraph.graph.read_only import bounded_rows, check_columns

Table = tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]
"""Columns and rows of a result."""
_ADDED_FIELDS: Final = frozenset({"_ID", "_SRC", "_DST", "_LABEL"})

_MANY_ROWS: Final = 5000
"""Number of rows from which reading by columns is worth importing pyarrow."""
_PLAIN_TYPES: Final = frozenset({"STRING", "INT64", "DOUBLE", "BOOL", "STRING[]"})
"""Engine types whose Python values are the same whether read by rows or by columns."""
_MOST_COUNTED: Final = 1 << 53
"""Largest count that is believed; the engine multiplies counts of patterns without a check."""


def check_counts(rows: Sequence[tuple[Cell, ...]]) -> None:
    """Raise QueryFailed if a count may have overflowed; it is negative or very large then."""
    for row in rows:
        for cell in row:
            if isinstance(cell, int) and not -_MOST_COUNTED < cell < _MOST_COUNTED:
                raise QueryFailed(
                    "a count of the statement is beyond 2^53, where the embedded engine"
                    " overflows; connect its patterns, or count their parts"
                )


def read_table(
    connection: ladybug.Connection,
    text: str,
    given: dict[str, Cell],
    **limits: Unpack[QueryLimits],
) -> Table:
    """Run a statement; QueryFailed if it has more rows than allowed, or rows that cannot be read.

    Raises the engine's errors.
    """
    max_rows = limits.get("max_rows")
    # a single statement has a single result
    found = cast("ladybug.QueryResult", connection.execute(text, given))
    with found:
        columns = tuple(found.get_column_names())
        check_columns(columns)
        rows = _rows(found, max_rows)
        return columns, tuple(bounded_rows(rows, max_rows, limits.get("max_bytes")))


def _rows(found: ladybug.QueryResult, max_rows: int | None) -> Iterator[tuple[Cell, ...]]:
    """Return the rows; QueryFailed for dates and intervals that Python cannot represent."""
    count = found.get_num_tuples()
    # columns are read as a whole, which is too much for a result rejected for its length
    is_refused = max_rows is not None and count > max_rows
    types = found.get_column_data_types()
    if any("INTERVAL" in name for name in types):
        # reading one that Python cannot represent ends the process
        raise QueryFailed("an interval cannot be returned: convert it with CAST(… AS STRING)")
    if any("DATE" in name or "TIMESTAMP" in name for name in types):
        return _rows_with_dates(found)
    is_plain = _PLAIN_TYPES.issuperset(types)
    if count < _MANY_ROWS or is_refused or not is_plain:
        return (tuple(map(_cell, row)) for row in found)
    columns = found.get_as_arrow(_MANY_ROWS).columns
    return zip(*(column.to_pylist() for column in columns), strict=True)


def _rows_with_dates(found: ladybug.QueryResult) -> Iterator[tuple[Cell, ...]]:
    """Read by columns, where a date that Python cannot represent is an error, not a crash."""
    try:
        columns = [column.to_pylist() for column in found.get_as_arrow(_MANY_ROWS).columns]
    except (OverflowError, ValueError) as error:
        raise QueryFailed(
            "a date or time is outside the years 1 to 9999: convert it with CAST(… AS STRING)"
        ) from error
    return (tuple(map(_cell, row)) for row in zip(*columns, strict=True))


def _cell(value: Any) -> Cell:  # noqa: ANN401  the engine's values have any type
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_cell(element) for element in value]
    if isinstance(value, dict):
        if "_NODES" in value and "_RELS" in value:
            return _path(value["_NODES"], value["_RELS"])
        if "_LABEL" in value:
            return _properties(value)
        return {str(name): _cell(part) for name, part in value.items()}
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta | UUID):
        return str(value)
    if isinstance(value, bytes | bytearray):
        return value.hex()
    return str(value)


def _path(
    nodes: Sequence[dict[str, Any]], relationships: Sequence[dict[str, Any]]
) -> row_cells.Path | None:
    """Return a path; None if all is null, because an OPTIONAL MATCH found nothing."""
    if any(node["_ID"] is None for node in nodes):
        return None
    walk = [row_cells.Node(node["_LABEL"], _properties(node)) for node in nodes]
    by_id = {tuple(node["_ID"].values()): found for node, found in zip(nodes, walk, strict=True)}
    return row_cells.Path(
        walk,
        [
            row_cells.Relationship(
                relationship["_LABEL"],
                _properties(relationship),
                source=by_id[tuple(relationship["_SRC"].values())],
                target=by_id[tuple(relationship["_DST"].values())],
            )
            for relationship in relationships
        ],
    )


def _properties(element: dict[str, Any]) -> dict[str, Cell]:
    return {
        name: _cell(value)
        for name, value in element.items()
        if value is not None and name not in _ADDED_FIELDS
    }
