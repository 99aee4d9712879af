"""Rows of compilations, as typed columns that match the schema of the graph."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph.row_tables import (
    NODE_COLUMNS,
    RELATIONSHIP_COLUMNS,
    CompilationRows,
    distinct_rows,
)
from xlagraph.graph.schema import SCHEMA, SHARED_TABLES, Detail, is_stored
from xlagraph.graph.schema_types import (
    Integers,
    NodeRows,
    RelationshipRows,
    Rows,
    caption_property,
)
from xlagraph.ingest.measures.compilation_facts import CompilationFacts
from xlagraph.ingest.rows.nodes import NODES_OF_PROVENANCE, NODES_OF_TEXT
from xlagraph.ingest.rows.relationships import RELATIONSHIPS_OF_PROVENANCE, RELATIONSHIPS_OF_TEXT
from xlagraph.ingest.rows.row_source import NumberedFacts, Provenance
from xlagraph.presentation.byte_sizes import human_bytes

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


_OWNER: Final = "compilation"
"""Property that every part of a compilation has: the compilation's key."""
_ENDS: Final = (pa.field("source", pa.int32()), pa.field("target", pa.int32()))
"""Columns of relationships whose ends are row numbers of their compilation's nodes."""


def compilation_tables(
    compilations: Sequence[tuple[Provenance, CompilationFacts]],
) -> Iterator[tuple[str, pa.Table]]:
    """Yield the tables of compilations, nodes first, in the schema's order.

    Each table is made when it is requested: relationship tables name both ends by their keys, and
    together take more memory than everything they are made from. If several compilations have
    the same content, the rows are made once and repeated. Small compilations have about a hundred
    short columns each: making and loading them one by one took three to five times as long as
    together.
    """
    if not compilations:
        return
    tables = _Tables(compilations)
    repeated = SHARED_TABLES if len(compilations) > 1 else ()
    keys = {}
    for label in (*NODES_OF_PROVENANCE, *NODES_OF_TEXT):
        rows = tables.nodes(label)
        keys[label.table] = rows.column("key").combine_chunks()
        yield label.table, distinct_rows(rows) if label.table in repeated else rows
        del rows
    for type_ in (*RELATIONSHIPS_OF_PROVENANCE, *RELATIONSHIPS_OF_TEXT):
        rows = tables.relationships(type_, keys)
        yield type_.table, distinct_rows(rows) if type_.table in repeated else rows
        del rows


class _Tables:
    """The rows of each compilation in turn; shared nodes are repeated."""

    def __init__(self, compilations: Sequence[tuple[Provenance, CompilationFacts]]) -> None:
        self._compilations = compilations
        facts = {provenance.sha256: facts for provenance, facts in compilations}
        self._sources = list(map(NumberedFacts, facts.values()))
        source_by_digest = {sha256: index for index, sha256 in enumerate(facts)}
        self._source_of_each = [source_by_digest[each.sha256] for each, _ in compilations]
        self._lengths: dict[str, list[int]] = {}
        """Number of rows of each compilation, by table."""

    def nodes(self, label: type[NodeRows]) -> pa.Table:
        """Make the table of a label's nodes."""
        columns = NODE_COLUMNS[label.table]
        if label in NODES_OF_PROVENANCE:
            return self._of_provenance(label, NODES_OF_PROVENANCE[label], columns)
        make = NODES_OF_TEXT[label]
        if not label.declared.is_part:
            return self._of_text(label, make, columns)
        fields = [
            pa.field("key", pa.int64())
            if field.name == "key" and label.declared.has_numbers
            else field
            for field in columns
            if field.name != _OWNER
        ]
        return self._with_keys(self._of_text(label, make, pa.schema(fields)), label, columns)

    def relationships(
        self, type_: type[RelationshipRows], keys: Mapping[str, "pa.Array[Any]"]
    ) -> pa.Table:
        """Make the table of a relationship type, given the keys of all nodes by label."""
        columns = RELATIONSHIP_COLUMNS[type_.table]
        numbered = pa.schema([*_ENDS, *list(columns)[2:]])
        if type_ in RELATIONSHIPS_OF_PROVENANCE:
            rows = self._of_provenance(type_, RELATIONSHIPS_OF_PROVENANCE[type_], numbered)
        else:
            rows = self._of_text(type_, RELATIONSHIPS_OF_TEXT[type_], numbered)
        labels = (type_.declared.source, type_.declared.target)
        ends = [
            keys[label].take(self._among_all(numbers, type_.table, label))
            for numbers, label in zip(rows.columns, labels, strict=False)
        ]
        return pa.table([*ends, *rows.columns[2:]], schema=columns)

    def _among_all(
        self, numbers: "pa.ChunkedArray[Any]", name: str, label: str
    ) -> "pa.ChunkedArray[Any]":
        """Return one end of relationships as row numbers of the nodes of all compilations."""
        if len(self._compilations) == 1:
            return numbers
        first_rows = pa.array(accumulate(self._lengths[label][:-1], initial=0), pa.int32())
        return pc.add(numbers, pa.chunked_array([first_rows.take(self._compilation_of_rows(name))]))

    def _compilation_of_rows(self, name: str) -> "pa.Array[Any]":
        """Return, for each row of a finished table, the index of its compilation."""
        # as parents of list items: C repeats the indexes faster than a `pa.repeat` for each
        lengths = self._lengths[name]
        offsets = pa.array([0, *accumulate(lengths)], pa.int32())
        rows: pa.Array[Any] = pa.ListArray.from_arrays(offsets, pa.nulls(sum(lengths)))
        return pc.list_parent_indices(rows)

    def _of_provenance(
        self,
        kind: type[Rows],
        make: Callable[[Provenance, CompilationFacts], Rows],
        columns: pa.Schema,
    ) -> pa.Table:
        parts = [make(provenance, facts) for provenance, facts in self._compilations]
        self._lengths[kind.table] = list(map(len, parts))
        return _joined(kind, columns, parts)

    def _of_text(
        self, kind: type[Rows], make: Callable[[NumberedFacts], Rows], columns: pa.Schema
    ) -> pa.Table:
        """Make the rows of each content once, and repeat them for its compilations."""
        parts = list(map(make, self._sources))
        lengths = list(map(len, parts))
        self._lengths[kind.table] = [lengths[part] for part in self._source_of_each]
        rows = _joined(kind, columns, parts)
        if len(parts) == len(self._source_of_each):
            return rows
        starts = [0, *accumulate(lengths)]
        slices = [rows.slice(starts[part], lengths[part]) for part in self._source_of_each]
        return pa.concat_tables(slices).combine_chunks()

    def _with_keys(self, rows: pa.Table, label: type[NodeRows], columns: pa.Schema) -> pa.Table:
        """Prefix the keys of rows with their compilation's key, and add that key as a column."""
        if not rows.num_rows:
            return columns.empty_table()
        owners = [provenance.files.key for provenance, _ in self._compilations]
        beginnings = [f"{owner}{label.declared.key_prefix}" for owner in owners]
        compilation_of_rows = self._compilation_of_rows(label.table)
        owner = pa.array(owners).take(compilation_of_rows)
        beginning = pa.array(beginnings).take(compilation_of_rows)
        (ends,) = rows.column("key").chunks
        # the stubs do not allow a text next to columns
        keys = pc.binary_join_element_wise(  # type: ignore[call-overload]
            beginning, ends.cast(pa.string()), ""
        )
        rows = rows.set_column(rows.column_names.index("key"), columns.field("key"), keys)
        return rows.add_column(columns.get_field_index(_OWNER), columns.field(_OWNER), owner)


def _joined(kind: type[Rows], schema: pa.Schema, parts: Iterable[Rows]) -> pa.Table:
    """Join the rows of some compilations or contents, and add the texts of captioned bytes."""
    filled = [part for part in parts if part]
    if not filled:
        return schema.empty_table()
    columns = kind.joined(filled)
    for property_ in kind.declared.properties:
        if property_.is_captioned:
            sizes = cast("Integers", columns[property_.name])
            texts = {size: None if size is None else human_bytes(size) for size in set(sizes)}
            columns[caption_property(property_.name)] = list(map(texts.__getitem__, sizes))
    arrays: list[pa.Array[Any]] = [pa.array(columns[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)
