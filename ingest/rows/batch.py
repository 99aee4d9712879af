"""What compilations put into the graph, as typed columns that fit its schema."""

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph.rows.tables import NODE_COLUMNS, RELATIONSHIP_COLUMNS, CompilationRows, RowBatch
from xlagraph.ingest.measures.compilation_facts import CompilationFacts
from xlagraph.ingest.rows.nodes import IDENTITY_NODE_ROWS, NODE_ROWS
from xlagraph.ingest.rows.relationships import IDENTITY_RELATIONSHIP_ROWS, RELATIONSHIP_ROWS
from xlagraph.ingest.rows.source import Columns, Identity, RowSource

__all__ = ["Identity", "compilation_rows", "row_batch"]

_ROWS_OF_TEXT: Final = {**NODE_ROWS, **RELATIONSHIP_ROWS}
_ROWS_OF_IDENTITY: Final = {**IDENTITY_NODE_ROWS, **IDENTITY_RELATIONSHIP_ROWS}
_OWNER: Final = "compilation"
"""Property of every part of a compilation."""


def row_batch(compilations: Sequence[tuple[Identity, CompilationFacts]]) -> RowBatch:
    """Make the rows of some compilations, their runs and shared nodes too.

    Of facts that several of them share, the rows are made once and repeated.
    """
    sources: dict[int, RowSource] = {}
    for _, facts in compilations:
        sources.setdefault(id(facts), RowSource(facts))
    places = {facts_id: place for place, facts_id in enumerate(sources)}
    shared = [places[id(facts)] for _, facts in compilations]
    keys = [identity.files.key for identity, _ in compilations]
    counts: list[dict[str, int]] = [{} for _ in compilations]

    def table(name: str, schema: pa.Schema) -> pa.Table:
        if name in _ROWS_OF_IDENTITY:
            make = _ROWS_OF_IDENTITY[name]
            parts = [make(identity, facts) for identity, facts in compilations]
            used: Sequence[int] = range(len(parts))
        else:
            parts = [_ROWS_OF_TEXT[name](source) for source in sources.values()]
            used = shared
        lengths = [_length(columns) for columns in parts]
        for count, part in zip(counts, used, strict=True):
            if lengths[part]:
                count[name] = lengths[part]
        if not any(lengths):
            return schema.empty_table()
        is_part = _OWNER in schema.names
        own = schema.remove(schema.get_field_index(_OWNER)) if is_part else schema
        rows = _joined(name, own, [columns for columns in parts if columns])
        if len(used) > len(parts):
            rows = _repeated(rows, lengths, used)
        return _with_keys(rows, schema, keys, [lengths[part] for part in used]) if is_part else rows

    return RowBatch(
        {label: table(label, schema) for label, schema in NODE_COLUMNS.items()},
        {name: table(name, schema) for name, schema in RELATIONSHIP_COLUMNS.items()},
        counts,
    )


def compilation_rows(identity: Identity, facts: CompilationFacts) -> CompilationRows:
    """Make the rows of one compilation, its run and shared nodes too."""
    return next(row_batch([(identity, facts)]).split())


def _length(columns: Columns) -> int:
    return len(next(iter(columns.values()))) if columns else 0


def _joined(name: str, schema: pa.Schema, parts: Sequence[Columns]) -> pa.Table:
    for columns in parts:
        if columns.keys() != set(schema.names):
            unfit = sorted(columns.keys() ^ set(schema.names))
            raise ValueError(f"columns {unfit} of {name} are not in both, the rows and the schema")
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
    """Give the rows of each of these parts, as often as they name it."""
    starts = [0, *accumulate(lengths)]
    slices = [rows.slice(starts[part], lengths[part]) for part in parts if lengths[part]]
    return pa.concat_tables(slices).combine_chunks()


def _with_keys(
    rows: pa.Table, schema: pa.Schema, owners: Sequence[str], lengths: Sequence[int]
) -> pa.Table:
    """Put the keys of the compilations before those of their parts, and say whose they are."""
    owner = pa.concat_arrays(
        [pa.repeat(key, length) for key, length in zip(owners, lengths, strict=True)]
    )
    (ends,) = rows.column("key").chunks
    # the stubs know no text beside columns
    keys = pc.binary_join_element_wise(owner, ends, "")  # type: ignore[call-overload]
    rows = rows.set_column(rows.column_names.index("key"), schema.field("key"), keys)
    return rows.add_column(schema.get_field_index(_OWNER), schema.field(_OWNER), owner)
