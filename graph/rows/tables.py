"""The rows of compilations as typed columns, checked against the schema.

Node rows carry every property of their label. Relationship rows carry ``source`` and
``target``, row numbers in the node columns of the labels that the type joins, then their
properties: neither engine needs a key look-up to know what a relationship joins, and a
key is built once, however many relationships end there.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, repeat
from typing import Any, Final, Self, cast

import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph.schema import SCHEMA, Property, PropertyType

ARROW_TYPES: Final[Mapping[PropertyType, pa.DataType]] = {
    PropertyType.STRING: pa.string(),
    PropertyType.INTEGER: pa.int64(),
    PropertyType.BOOLEAN: pa.bool_(),
    PropertyType.STRING_LIST: pa.list_(pa.string()),
}


def _fields(properties: tuple[Property, ...]) -> "list[pa.Field[pa.DataType]]":
    return [pa.field(item.name, ARROW_TYPES[item.type]) for item in properties]


NODE_COLUMNS: Final[Mapping[str, pa.Schema]] = {
    node.label: pa.schema(_fields(node.properties)) for node in SCHEMA.nodes
}
RELATIONSHIP_COLUMNS: Final[Mapping[str, pa.Schema]] = {
    relationship.name: pa.schema(
        [
            pa.field("source", pa.int32()),
            pa.field("target", pa.int32()),
            *_fields(relationship.properties),
        ]
    )
    for relationship in SCHEMA.relationships
}
KEYED_COLUMNS: Final[Mapping[str, pa.Schema]] = {
    name: pa.schema([pa.field("source", pa.string()), pa.field("target", pa.string()), *rest])
    for name, (_, _, *rest) in RELATIONSHIP_COLUMNS.items()
}
"""Columns of relationships whose ends are named by their keys."""


@dataclass(frozen=True, slots=True)
class CompilationRows:
    """Everything that one compilation puts into the graph, its run and shared nodes too.

    ``nodes`` has one table for each label, ``relationships`` one for each type, both in
    the order of the schema, empty where the compilation has none. The ``Run`` and the
    ``Compilation`` table have exactly one row.
    """

    nodes: Mapping[str, pa.Table]
    relationships: Mapping[str, pa.Table]

    def __post_init__(self) -> None:
        for columns, tables in (
            (NODE_COLUMNS, self.nodes),
            (RELATIONSHIP_COLUMNS, self.relationships),
        ):
            if list(tables) != list(columns):
                raise ValueError(f"expected tables for {list(columns)}, got {list(tables)}")
            for name, table in tables.items():
                if table.schema != columns[name]:
                    raise ValueError(f"columns of {name} are not those of the schema")

    @property
    def compilation(self) -> str:
        """Key of the compilation."""
        key: str = self.nodes["Compilation"].column("key")[0].as_py()
        return key

    @property
    def run(self) -> str:
        """Key of the run."""
        key: str = self.nodes["Run"].column("key")[0].as_py()
        return key

    def count(self) -> int:
        """Rows of all tables together."""
        return sum(table.num_rows for table in self._tables())

    def _tables(self) -> Iterator[pa.Table]:
        yield from self.nodes.values()
        yield from self.relationships.values()


@dataclass(frozen=True, slots=True)
class RowBatch:
    """The rows of some compilations: of each table one, and how many rows each has there.

    Row numbers of relationships count from the first row of their own compilation. Small
    compilations have some hundred short columns each: to make, send, check and load them
    one by one took three to five times as long as in batches.
    """

    nodes: Mapping[str, pa.Table]
    relationships: Mapping[str, pa.Table]
    counts: Sequence[Mapping[str, int]]
    """By compilation, then by label or relationship type; nothing where there are none."""

    @classmethod
    def joined(cls, compilations: Sequence[CompilationRows]) -> Self:
        """Put the rows of compilations together; there must be one at least."""
        nodes, relationships = (
            {name: pa.concat_tables([part[name] for part in parts]) for name in parts[0]}
            for parts in (
                [rows.nodes for rows in compilations],
                [rows.relationships for rows in compilations],
            )
        )
        counts = [
            {
                name: table.num_rows
                for name, table in (*rows.nodes.items(), *rows.relationships.items())
            }
            for rows in compilations
        ]
        return cls(nodes, relationships, counts)

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

    def keyed_relationships(self) -> Iterator[tuple[str, pa.Table]]:
        """Give each type with keys in the place of row numbers, made when it is its turn."""
        keys = {label: table.column("key").combine_chunks() for label, table in self.nodes.items()}
        for item in SCHEMA.relationships:
            sources, targets = self.ends(item.name)
            ends = [keys[item.source].take(sources), keys[item.target].take(targets)]
            rest = self.relationships[item.name].columns[2:]
            yield item.name, pa.table([*ends, *rest], schema=KEYED_COLUMNS[item.name])

    def ends(self, name: str) -> tuple["pa.ChunkedArray[Any]", "pa.ChunkedArray[Any]"]:
        """Give sources and targets of a type as row numbers in the tables of all compilations."""
        item = SCHEMA.relationship(name)
        table = self.relationships[name]
        sources, targets = table.column("source"), table.column("target")
        if len(self.counts) == 1:
            return sources, targets
        lengths = [counts.get(name, 0) for counts in self.counts]
        return (
            self._moved(sources, item.source, lengths),
            self._moved(targets, item.target, lengths),
        )

    def _moved(
        self, rows: "pa.ChunkedArray[Any]", label: str, lengths: Sequence[int]
    ) -> "pa.ChunkedArray[Any]":
        firsts = accumulate((counts.get(label, 0) for counts in self.counts), initial=0)
        moves = row_numbers(chain.from_iterable(map(repeat, firsts, lengths)))
        return pc.add(rows, pa.chunked_array([moves]))


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """The rows of some compilations together: a table for each label, and for each type.

    Relationships have `KEYED_COLUMNS`.
    """

    nodes: Mapping[str, pa.Table]
    relationships: Mapping[str, pa.Table]


def keys_of(table: pa.Table) -> list[str]:
    """Give the keys of nodes, in order."""
    return cast("list[str]", table.column("key").to_pylist())


def row_numbers(rows: Iterable[int]) -> "pa.Int32Array":
    """Give numbers as a column; unlike `pyarrow.array` without importing pandas, for 0.2 s."""
    numbers = array("i", rows)
    return cast(
        "pa.Int32Array",
        pa.Array.from_buffers(pa.int32(), len(numbers), [None, pa.py_buffer(numbers)]),
    )


def rebased(rows: CompilationRows, old: str, new: str) -> CompilationRows:
    """Put another run's name in front of every key, and on the run."""
    nodes: dict[str, pa.Table] = {}
    for node in SCHEMA.nodes:
        table = rows.nodes[node.label]
        if node.label == "Run":
            for column in ("key", "name"):
                table = _with_column(table, column, pa.array([new]))
        elif not node.shared:
            for column in {"key", "compilation", "run"} & set(table.column_names):
                keys = table.column(column)
                # what comes after the run's name stays
                moved = [new + key.removeprefix(old) for key in cast("list[str]", keys.to_pylist())]
                table = _with_column(table, column, pa.array(moved, pa.string()))
        nodes[node.label] = table
    return CompilationRows(nodes, rows.relationships)


def _with_column(table: pa.Table, name: str, column: "pa.Array[Any]") -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), table.schema.field(name), column)
