"""What compilations put into the graph, as typed columns that fit its schema."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa

from xlagraph.graph.rows import NODE_COLUMNS, RELATIONSHIP_COLUMNS, CompilationRows
from xlagraph.ingest.facts import Facts
from xlagraph.ingest.node_rows import NODE_ROWS
from xlagraph.ingest.relationship_rows import RELATIONSHIP_ROWS
from xlagraph.ingest.row_source import Columns, Identity, RowSource

__all__ = ["Identity", "RowBatch", "compilation_rows", "row_batch"]


@dataclass(frozen=True, slots=True)
class RowBatch:
    """The rows of some compilations: of each table one, and how many rows each has there.

    Small compilations have some hundred short columns each. To make, send and check them
    one by one took three times as long as in batches.
    """

    nodes: Mapping[str, pa.Table]
    relationships: Mapping[str, pa.Table]
    counts: Sequence[Mapping[str, int]]
    """By compilation, then by label or relationship type; nothing where there are none."""

    def split(self) -> Iterator[CompilationRows]:
        """Give the rows of each compilation, without copying them."""
        ends = dict.fromkeys((*self.nodes, *self.relationships), 0)
        for counts in self.counts:
            starts = ends.copy()
            for name, count in counts.items():
                ends[name] += count
            yield CompilationRows(
                *(
                    {
                        name: table.slice(starts[name], ends[name] - starts[name])
                        for name, table in tables.items()
                    }
                    for tables in (self.nodes, self.relationships)
                )
            )


def row_batch(compilations: Iterable[tuple[Identity, Facts]]) -> RowBatch:
    """Make the rows of some compilations, their runs and shared nodes too."""
    sources = [RowSource(identity, facts) for identity, facts in compilations]
    counts: list[dict[str, int]] = [{} for _ in sources]

    def table(name: str, schema: pa.Schema, make: Callable[[RowSource], Columns]) -> pa.Table:
        parts = [make(source) for source in sources]
        for count, columns in zip(counts, parts, strict=True):
            if columns:
                _check_names(name, columns, schema)
                if rows := len(columns[schema.names[0]]):
                    count[name] = rows
        return _joined(schema, [columns for columns in parts if columns])

    return RowBatch(
        {label: table(label, NODE_COLUMNS[label], make) for label, make in NODE_ROWS.items()},
        {
            name: table(name, RELATIONSHIP_COLUMNS[name], make)
            for name, make in RELATIONSHIP_ROWS.items()
        },
        counts,
    )


def compilation_rows(identity: Identity, facts: Facts) -> CompilationRows:
    """Make the rows of one compilation, its run and shared nodes too."""
    return next(row_batch([(identity, facts)]).split())


def _check_names(name: str, columns: Columns, schema: pa.Schema) -> None:
    if columns.keys() != set(schema.names):
        unfit = sorted(columns.keys() ^ set(schema.names))
        raise ValueError(f"columns {unfit} of {name} are not in both, the rows and the schema")


def _joined(schema: pa.Schema, parts: Sequence[Columns]) -> pa.Table:
    if not any(len(columns[schema.names[0]]) for columns in parts):
        return schema.empty_table()
    arrays: list[pa.Array[Any]] = [
        pa.array(
            parts[0][field.name]
            if len(parts) == 1
            else list(chain.from_iterable(columns[field.name] for columns in parts)),
            field.type,
        )
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
