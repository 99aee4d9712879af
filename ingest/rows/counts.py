"""Counts of nodes and relationships of compilations; shared ones count once."""

from collections import Counter
from typing import Final, cast

import pyarrow as pa

from xlagraph.graph.schema import SCHEMA, SHARED_LABELS, SHARED_RELATIONSHIPS

_ENDS: Final = ("source", "target")
_KEY_COLUMNS: Final = {
    **dict.fromkeys(SHARED_LABELS, ("key",)),
    **{relationship.name: _ENDS for relationship in SHARED_RELATIONSHIPS},
}
"""Columns that identify shared rows, by table."""


class RowCounts:
    """Counts of rows that are added one table after the other."""

    def __init__(self) -> None:
        self._own: Counter[str] = Counter()
        self._shared: dict[str, set[tuple[str, ...]]] = {name: set() for name in _KEY_COLUMNS}

    def add_rows(self, name: str, rows: pa.Table) -> None:
        """Count a table's rows; its compilations must not have been counted before."""
        if name in _KEY_COLUMNS:
            self._shared[name].update(_cells(rows, _KEY_COLUMNS[name]))
        else:
            self._own[name] += rows.num_rows

    def add(self, other: "RowCounts") -> None:
        """Add the counts of other compilations."""
        self._own += other._own
        for name, found in self._shared.items():
            found |= other._shared[name]

    @property
    def values(self) -> int:
        """Number of HLO values."""
        return self._own["Value"]

    @property
    def nodes(self) -> int:
        """Number of nodes of all labels."""
        return sum(self._count(node.label) for node in SCHEMA.nodes)

    @property
    def relationships(self) -> int:
        """Number of relationships of all types."""
        return sum(self._count(relationship.name) for relationship in SCHEMA.relationships)

    def _count(self, name: str) -> int:
        return len(self._shared[name]) if name in self._shared else self._own[name]


def _cells(table: pa.Table, columns: tuple[str, ...]) -> "zip[tuple[str, ...]]":
    return zip(
        *(cast("list[str]", table.column(name).to_pylist()) for name in columns), strict=True
    )
