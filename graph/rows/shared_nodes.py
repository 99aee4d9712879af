"""Shared nodes of a load: each is written once, together with the relationships that leave it."""

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph.rows.tables import CompilationRows, keys_of
from xlagraph.graph.schema_tables import IMMUTABLE_LABELS, SHARED_RELATIONSHIPS

__all__ = ["SharedRows", "unseen_row_numbers"]

_SOURCES: Final = {relationship.name: relationship.source for relationship in SHARED_RELATIONSHIPS}


class SharedRows:
    """The shared nodes seen in a load, without the runs, which can change."""

    def __init__(self) -> None:
        self._keys: dict[str, set[str]] = {label: set() for label in IMMUTABLE_LABELS}

    def drop_seen(self, rows: CompilationRows) -> Iterator[tuple[str, pa.Table]]:
        """Yield each table without rows that were seen before, and remember its rows."""
        new: dict[str, pa.ChunkedArray[pa.StringScalar]] = {}
        for label, table in rows.nodes.items():
            if label in self._keys:
                table = table.take(unseen_row_numbers(table, self._keys[label]))
                new[label] = table.column("key")
            yield label, table
        for name, table in rows.relationships.items():
            if name in _SOURCES:
                table = table.filter(pc.is_in(table.column("source"), new[_SOURCES[name]]))
            yield name, table


def unseen_row_numbers(nodes: pa.Table, seen: set[str]) -> "pa.Int32Array":
    """Return the numbers of rows with new keys, and remember these keys."""
    rows = []
    for row, key in enumerate(keys_of(nodes)):
        if key not in seen:
            seen.add(key)
            rows.append(row)
    return pa.array(rows, pa.int32())
