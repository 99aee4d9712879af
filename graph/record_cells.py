"""Cells of records: a field is named after its column, `size_bytes` after `sizeBytes`."""

import re
from collections.abc import Iterable

from xlagraph.graph.engine import Cell
from xlagraph.graph.schema_types import column_name

__all__ = ["record_cells", "record_row"]


def record_row(record: object, columns: Iterable[str]) -> tuple[Cell, ...]:
    """Return the fields of a record that these columns are named after."""
    fields = (re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", each) for each in columns)
    return tuple(getattr(record, field) for field in fields)


def record_cells(record: object, columns: Iterable[str] | None = None) -> dict[str, Cell]:
    """Return the fields of a record by column; all of them if no columns are given."""
    if columns is None:  # dataclasses and named tuples have it
        columns = map(column_name, vars(type(record))["__match_args__"])
    names = tuple(columns)
    return dict(zip(names, record_row(record, names), strict=True))
