"""Cells of records by column: the field `size_bytes` is in the column `sizeBytes`."""

import re
from collections.abc import Iterable

from xlagraph.graph.engine import Cell
from xlagraph.graph.schema_types import column_name


def record_cells(record: object, **columns: str) -> dict[str, Cell]:
    """Return all fields of a record by column; ``columns`` has the names that differ, by field."""
    fields: tuple[str, ...] = vars(type(record))["__match_args__"]  # of dataclasses and tuples
    return {columns.get(field) or column_name(field): getattr(record, field) for field in fields}


def cells_of_columns(record: object, columns: Iterable[str]) -> dict[str, Cell]:
    """Return the fields of a record that these columns are named after, by column."""
    names = tuple(columns)
    return dict(zip(names, record_row(record, names), strict=True))


def record_row(record: object, columns: Iterable[str]) -> tuple[Cell, ...]:
    """Return the fields of a record that these columns are named after."""
    fields = (re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", each) for each in columns)
    return tuple(getattr(record, field) for field in fields)
