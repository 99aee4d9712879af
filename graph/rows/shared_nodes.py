"""Shared nodes of a load: each is written once, together with the relationships that leave it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph.rows.tables import keys_of, row_numbers
from xlagraph.graph.schema import BETWEEN_SHARED, UNCHANGING

__all__ = ["SharedRows", "first_seen"]

_SOURCES: Final = {item.name: item.source for item in BETWEEN_SHARED}


class SharedRows:
    """Which shared nodes were seen in a load; runs, which change, are none of them."""

    def __init__(self) -> None:
        self.keys: dict[str, set[str]] = {label: set() for label in UNCHANGING}
        """Of all that were seen, by label."""

    def unseen(
        self,
        nodes: Mapping[str, pa.Table],
        relationships: Iterable[tuple[str, pa.Table]],
    ) -> Iterator[tuple[str, pa.Table]]:
        """Give table after table without what was seen before, and see the rest.

        Relationships have `KEYED_COLUMNS`.
        """
        fresh: dict[str, pa.ChunkedArray[pa.StringScalar]] = {}
        for label, table in nodes.items():
            if label in self.keys:
                table = table.take(first_seen(table, self.keys[label]))
                fresh[label] = table.column("key")
            yield label, table
        for name, table in relationships:
            if name in _SOURCES:
                table = table.filter(pc.is_in(table.column("source"), fresh[_SOURCES[name]]))
                # several compilations may give the same one
                table = table.group_by(["source", "target"], use_threads=False).aggregate([])
            yield name, table


def first_seen(nodes: pa.Table, seen: set[str]) -> "pa.Int32Array":
    """Give the rows whose keys were not seen before, and see them."""
    rows = []
    for row, key in enumerate(keys_of(nodes)):
        if key not in seen:
            seen.add(key)
            rows.append(row)
    return row_numbers(rows)
