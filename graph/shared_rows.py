"""Shared nodes of a load: each is written once, together with the relationships that leave it."""

import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph.rows import KeyedRows, keys_of, row_numbers
from xlagraph.graph.schema import BETWEEN_SHARED, UNCHANGING

__all__ = ["SharedRows", "first_seen"]


class SharedRows:
    """Which shared nodes were seen in a load; runs, which change, are none of them."""

    def __init__(self) -> None:
        self.keys: dict[str, set[str]] = {label: set() for label in UNCHANGING}
        """Of all that were seen, by label."""

    def unseen(self, rows: KeyedRows) -> KeyedRows:
        """Leave out what was seen before, and see the rest."""
        nodes = dict(rows.nodes)
        relationships = dict(rows.relationships)
        for label, keys in self.keys.items():
            nodes[label] = nodes[label].take(first_seen(nodes[label], keys))
        for item in BETWEEN_SHARED:
            table = relationships[item.name]
            table = table.filter(pc.is_in(table.column("source"), nodes[item.source].column("key")))
            # several compilations may give the same one
            table = table.group_by(["source", "target"], use_threads=False).aggregate([])
            relationships[item.name] = table
        return KeyedRows(nodes, relationships)


def first_seen(nodes: pa.Table, seen: set[str]) -> "pa.Int32Array":
    """Give the rows whose keys were not seen before, and see them."""
    rows = []
    for row, key in enumerate(keys_of(nodes)):
        if key not in seen:
            seen.add(key)
            rows.append(row)
    return row_numbers(rows)
