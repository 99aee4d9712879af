"""Rows of compilations, as typed columns that match the schema of the graph."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph.rows.tables import (
    NODE_COLUMNS,
    RELATIONSHIP_COLUMNS,
    CompilationRows,
    distinct_rows,
)
from xlagraph.graph.schema import SCHEMA
from xlagraph.graph.schema_tables import SHARED_TABLES
from xlagraph.graph.schema_types import RelationshipType
from xlagraph.ingest.measures.compilation_facts import CompilationFacts
from xlagraph.ingest.rows.nodes import (
    KEY_PREFIXES,
    NODE_ROWS,
    NUMBERED_LABELS,
    PROVENANCE_NODE_ROWS,
)
from xlagraph.ingest.rows.relationships import PROVENANCE_RELATIONSHIP_ROWS, RELATIONSHIP_ROWS
from xlagraph.ingest.rows.row_source import Columns, NumberedFacts, Provenance

__all__ = ["Provenance", "compilation_rows", "compilation_tables"]

_ROWS_OF_TEXT: Final = {**NODE_ROWS, **RELATIONSHIP_ROWS}
_ROWS_OF_PROVENANCE: Final = {**PROVENANCE_NODE_ROWS, **PROVENANCE_RELATIONSHIP_ROWS}
_OWNER: Final = "compilation"
"""Property that every part of a compilation has: the compilation's key."""

_PART_COLUMNS: Final = {
    label: pa.schema(
        [
            pa.field("key", pa.int64())
            if field.name == "key" and label in NUMBERED_LABELS
            else field
            for field in NODE_COLUMNS[label]
            if field.name != _OWNER
        ]
    )
    for label in KEY_PREFIXES
}
"""Columns of parts, with the end of each key, before the key of their compilation is added."""

_NUMBERED_COLUMNS: Final = {
    name: pa.schema([pa.field("source", pa.int32()), pa.field("target", pa.int32()), *properties])
    for name, (_, _, *properties) in RELATIONSHIP_COLUMNS.items()
}
"""Columns of relationships whose ends are row numbers of their compilation's nodes."""


def compilation_rows(
    compilations: Sequence[tuple[Provenance, CompilationFacts]],
) -> CompilationRows:
    """Make the rows of compilations, including their runs and shared nodes."""
    tables = dict(compilation_tables(compilations))
    return CompilationRows(
        {label: tables[label] for label in NODE_COLUMNS},
        {name: tables[name] for name in RELATIONSHIP_COLUMNS},
    )


def compilation_tables(
    compilations: Sequence[tuple[Provenance, CompilationFacts]],
) -> Iterator[tuple[str, pa.Table]]:
    """Yield the tables of compilations, nodes first, in the schema's order.

    Each table is made when it is requested: relationship tables name both ends by their keys, and
    together take more memory than everything they are made from. If several compilations share
    their facts, the rows are made once and repeated. Small compilations have about a hundred
    short columns each: making and loading them one by one took three to five times as long as
    together.
    """
    if not compilations:
        return
    tables = _Tables(compilations)
    repeated = SHARED_TABLES if len(compilations) > 1 else ()
    keys = {}
    for label, columns in NODE_COLUMNS.items():
        rows = tables.nodes(label, columns)
        keys[label] = rows.column("key").combine_chunks()
        yield label, distinct_rows(rows) if label in repeated else rows
        del rows
    for relationship in SCHEMA.relationships:
        numbered = tables.relationships(relationship.name)
        ends = [
            keys[label].take(rows)
            for label, rows in zip(
                (relationship.source, relationship.target),
                tables.ends_among_all(relationship, numbered),
                strict=True,
            )
        ]
        rows = pa.table(
            [*ends, *numbered.columns[2:]], schema=RELATIONSHIP_COLUMNS[relationship.name]
        )
        del numbered, ends
        yield relationship.name, distinct_rows(rows) if relationship.name in repeated else rows
        del rows


class _Tables:
    """The rows of each compilation in turn; shared nodes are repeated."""

    def __init__(self, compilations: Sequence[tuple[Provenance, CompilationFacts]]) -> None:
        self._compilations = compilations
        sources: dict[int, NumberedFacts] = {}
        for _, facts in compilations:
            sources.setdefault(id(facts), NumberedFacts(facts))
        self._sources = tuple(sources.values())
        index_by_facts = {facts: index for index, facts in enumerate(sources)}
        self._source_of_each = [index_by_facts[id(facts)] for _, facts in compilations]
        self._lengths: dict[str, list[int]] = {}
        """Number of rows of each compilation, by table."""

    def nodes(self, label: str, columns: pa.Schema) -> pa.Table:
        """Make the table of the nodes of a label."""
        if _OWNER not in columns.names:
            return self._table(label, columns)
        return self._with_keys(self._table(label, _PART_COLUMNS[label]), label, columns)

    def relationships(self, name: str) -> pa.Table:
        """Make the table of a relationship type; its ends are row numbers within a compilation."""
        return self._table(name, _NUMBERED_COLUMNS[name])

    def ends_among_all(
        self, relationship: RelationshipType, rows: pa.Table
    ) -> "list[pa.ChunkedArray[Any]]":
        """Return the ends of relationships as row numbers among the nodes of all compilations."""
        ends = [rows.column("source"), rows.column("target")]
        if len(self._compilations) == 1:
            return ends
        compilation_of_rows = self._compilation_of_rows(relationship.name)
        first_rows = [
            pa.array(accumulate(self._lengths[label][:-1], initial=0), pa.int32())
            for label in (relationship.source, relationship.target)
        ]
        return [
            pc.add(numbers, pa.chunked_array([first.take(compilation_of_rows)]))
            for numbers, first in zip(ends, first_rows, strict=True)
        ]

    def _compilation_of_rows(self, name: str) -> "pa.Array[Any]":
        """Return the index of the compilation of each row of a table that was made."""
        # as parents of list items: C repeats the indexes faster than a `pa.repeat` for each
        lengths = self._lengths[name]
        offsets = pa.array([0, *accumulate(lengths)], pa.int32())
        rows: pa.Array[Any] = pa.ListArray.from_arrays(offsets, pa.nulls(sum(lengths)))
        return pc.list_parent_indices(rows)

    def _table(self, name: str, columns: pa.Schema) -> pa.Table:
        if name in _ROWS_OF_PROVENANCE:
            make = _ROWS_OF_PROVENANCE[name]
            parts = [make(provenance, facts) for provenance, facts in self._compilations]
            part_of_each: Sequence[int] = range(len(parts))
        else:
            parts = [_ROWS_OF_TEXT[name](source) for source in self._sources]
            part_of_each = self._source_of_each
        lengths = [_length(part) for part in parts]
        self._lengths[name] = [lengths[part] for part in part_of_each]
        if not any(lengths):
            return columns.empty_table()
        rows = _joined(name, columns, [part for part in parts if part])
        return _repeated(rows, lengths, part_of_each) if len(part_of_each) > len(parts) else rows

    def _with_keys(self, rows: pa.Table, label: str, columns: pa.Schema) -> pa.Table:
        """Prefix the keys of rows with their compilation's key, and add that key as a column."""
        if not rows.num_rows:
            return columns.empty_table()
        owners = [provenance.files.key for provenance, _ in self._compilations]
        beginnings = [owner + KEY_PREFIXES[label] for owner in owners]
        compilation_of_rows = self._compilation_of_rows(label)
        owner = pa.array(owners).take(compilation_of_rows)
        beginning = pa.array(beginnings).take(compilation_of_rows)
        (ends,) = rows.column("key").chunks
        # the stubs do not allow a text next to columns
        keys = pc.binary_join_element_wise(  # type: ignore[call-overload]
            beginning, ends.cast(pa.string()), ""
        )
        rows = rows.set_column(rows.column_names.index("key"), columns.field("key"), keys)
        return rows.add_column(columns.get_field_index(_OWNER), columns.field(_OWNER), owner)


def _length(columns: Columns) -> int:
    return len(next(iter(columns.values()))) if columns else 0


def _joined(name: str, schema: pa.Schema, parts: Sequence[Columns]) -> pa.Table:
    for columns in parts:
        if columns.keys() != set(schema.names):
            unfit = sorted(columns.keys() ^ set(schema.names))
            raise ValueError(f"columns {unfit} of {name} are not in both the rows and the schema")
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


def _repeated(rows: pa.Table, lengths: Sequence[int], parts: Sequence[int]) -> pa.Table:
    """Concatenate the rows of the parts at these indexes, which may repeat."""
    starts = [0, *accumulate(lengths)]
    slices = [rows.slice(starts[part], lengths[part]) for part in parts if lengths[part]]
    return pa.concat_tables(slices).combine_chunks()
