"""Rows of compilations that are stored at a level of detail."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph.row_tables import NODE_COLUMNS, RELATIONSHIP_COLUMNS, CompilationRows
from xlagraph.graph.schema import SCHEMA
from xlagraph.graph.schema_tables import Detail, is_stored

__all__ = ["tables_of_detail"]

_COLUMN_OF_VALUE: Final = {
    relationship.name: "source" if relationship.source == "Value" else "target"
    for relationship in SCHEMA.relationships
    if "Value" in (relationship.source, relationship.target)
} | {"Value": "key"}


def tables_of_detail(
    tables: Iterable[tuple[str, pa.Table]], detail: Detail
) -> Iterator[tuple[str, pa.Table]]:
    """Yield the tables of compilations, reduced to the rows stored at a level of detail.

    With `Detail.ALL` the tables are unchanged and yielded one by one. Otherwise only values live
    at a peak are kept, and only shared nodes that are still reached.
    """
    if detail is Detail.ALL:
        yield from tables
        return
    # most tables are not stored; each is dropped before the next one is made
    kept = {name: table for name, table in tables if is_stored(name, detail)}
    if not kept:
        return
    at_peak = pc.unique(kept["LIVE_AT_PEAK"].column("source"))
    for name, column in _COLUMN_OF_VALUE.items():
        if name in kept:
            kept[name] = kept[name].filter(pc.is_in(kept[name].column(column), value_set=at_peak))
    kept["Compilation"] = _stating(kept["Compilation"], detail)
    rows = CompilationRows(*[
        {name: kept.get(name, columns.empty_table()) for name, columns in all_columns.items()}
        for all_columns in (NODE_COLUMNS, RELATIONSHIP_COLUMNS)
    ])  # fmt: skip
    yield from rows.of(rows.origins).tables.items()


def _stating(compilations: pa.Table, detail: Detail) -> pa.Table:
    index = compilations.column_names.index("detail")
    said: pa.Array[Any] = pa.repeat(detail.value, compilations.num_rows)
    return compilations.set_column(index, compilations.field(index), said)
