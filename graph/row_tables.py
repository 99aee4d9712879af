"""The rows of compilations as typed columns, checked against the schema.

Node rows carry every property of their label. Relationship rows carry ``source`` and
``target``, the keys of the nodes that they join, then their properties.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self, cast

import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph.schema import (
    IMMUTABLE_LABELS,
    SCHEMA,
    SHARED_LABELS,
    SHARED_RELATIONSHIPS,
    SHARED_TABLES,
)
from xlagraph.graph.schema_types import Property, PropertyType

ARROW_TYPES: Final[Mapping[PropertyType, pa.DataType]] = {
    PropertyType.STRING: pa.string(),
    PropertyType.INTEGER: pa.int64(),
    PropertyType.BOOLEAN: pa.bool_(),
    PropertyType.STRING_LIST: pa.list_(pa.string()),
}


def _fields(properties: tuple[Property, ...]) -> "list[pa.Field[pa.DataType]]":
    return [pa.field(property_.name, ARROW_TYPES[property_.type]) for property_ in properties]


NODE_COLUMNS: Final[Mapping[str, pa.Schema]] = {
    node.label: pa.schema(_fields(node.properties)) for node in SCHEMA.nodes
}
RELATIONSHIP_COLUMNS: Final[Mapping[str, pa.Schema]] = {
    relationship.name: pa.schema(
        [
            pa.field("source", pa.string()),
            pa.field("target", pa.string()),
            *_fields(relationship.properties),
        ]
    )
    for relationship in SCHEMA.relationships
}
_SHARED_SOURCES: Final = {
    relationship.name: relationship.source for relationship in SHARED_RELATIONSHIPS
}


class Origin(NamedTuple):
    """The source of a compilation's rows."""

    sha256: str | None
    """Digest of the contents of its files; None if unknown."""
    path: str | None
    """Folder of its run."""
    detail: str | None
    """The detail in which it is stored."""

    def replaces(self, stored: "Origin | None") -> bool:
        """Return whether rows of this origin replace what is stored under their key."""
        return self.sha256 is None or self != stored


@dataclass(frozen=True, slots=True)
class CompilationRows:
    """Everything that some compilations put into the graph, runs and shared nodes too.

    ``nodes`` has one table for each label, ``relationships`` one for each type, both in
    the order of the schema, empty where there is nothing. Every node and every relationship
    is there once, however many of the compilations share it. A compilation's parts
    stand together, in the order of the ``Compilation`` table.
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

    @classmethod
    def distinct(cls, nodes: Mapping[str, pa.Table], relationships: Mapping[str, pa.Table]) -> Self:
        """Return the rows without repetitions of shared rows."""
        return cls(
            {
                name: distinct_rows(table) if name in SHARED_TABLES else table
                for name, table in nodes.items()
            },
            {
                name: distinct_rows(table) if name in SHARED_TABLES else table
                for name, table in relationships.items()
            },
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Join the rows of different compilations; at least one part is required."""
        if len(parts) == 1:
            return parts[0]
        return cls.distinct(
            {name: pa.concat_tables([part.nodes[name] for part in parts]) for name in NODE_COLUMNS},
            {
                name: pa.concat_tables([part.relationships[name] for part in parts])
                for name in RELATIONSHIP_COLUMNS
            },
        )

    @property
    def compilation(self) -> str:
        """The key of the only compilation."""
        (key,) = self.origins
        return key

    @property
    def origins(self) -> dict[str, Origin]:
        """Origin of each compilation, by key."""
        return origins_of(self.nodes["Compilation"])

    @property
    def tables(self) -> Mapping[str, pa.Table]:
        """All tables by label or type, nodes first."""
        return {**self.nodes, **self.relationships}

    def ends(self, name: str) -> tuple["pa.ChunkedArray[Any]", "pa.ChunkedArray[Any]"]:
        """Return the row numbers of the source and target nodes of a relationship type."""
        relationship, table = SCHEMA.relationship(name), self.relationships[name]
        source, target = (
            pc.index_in(table.column(end), value_set=self.nodes[label].column("key"))
            for end, label in (("source", relationship.source), ("target", relationship.target))
        )
        # the stubs wrongly return plain arrays for chunked ones
        return cast("tuple[pa.ChunkedArray[Any], pa.ChunkedArray[Any]]", (source, target))

    def count(self) -> int:
        """Return the number of rows of all tables."""
        return sum(table.num_rows for table in self.tables.values())

    def of(self, compilations: Collection[str]) -> Self:
        """Return the rows of some of the compilations, with the shared rows that they use."""
        wanted = pa.array(sorted(compilations), pa.string())
        nodes: dict[str, pa.Table] = {}
        for node in SCHEMA.nodes:
            if not node.is_shared:
                owners = self.nodes[node.label].column("compilation" if node.is_part else "key")
                nodes[node.label] = self.nodes[node.label].filter(pc.is_in(owners, wanted))
        reached = {label: set(keys_of(table)) for label, table in nodes.items()}
        reached |= {label: set() for label in SHARED_LABELS}
        relationships: dict[str, pa.Table] = {}
        # relationships of parts first: they decide which shared nodes are reached
        for relationship in sorted(
            SCHEMA.relationships, key=lambda relationship: relationship.name in SHARED_TABLES
        ):
            table = self.relationships[relationship.name]
            near, far = ("source", relationship.source), ("target", relationship.target)
            if relationship.source in SHARED_LABELS and relationship.target not in SHARED_LABELS:
                near, far = far, near
            relationships[relationship.name] = _reach(table, near, far, reached)
        for label in SHARED_LABELS:
            keys = pa.array(sorted(reached[label]), pa.string())
            nodes[label] = self.nodes[label].filter(pc.is_in(self.nodes[label].column("key"), keys))
        return type(self)(
            {label: nodes[label] for label in NODE_COLUMNS},
            {name: relationships[name] for name in RELATIONSHIP_COLUMNS},
        )


def _reach(
    table: pa.Table, near: tuple[str, str], far: tuple[str, str], reached: dict[str, set[str]]
) -> pa.Table:
    """Return the rows whose near end is reached, and mark their far ends as reached."""
    while True:
        before = len(reached[far[1]])
        starts = pa.array(sorted(reached[near[1]]), pa.string())
        found = table.filter(pc.is_in(table.column(near[0]), starts))
        reached[far[1]].update(cast("list[str]", found.column(far[0]).to_pylist()))
        if near[1] != far[1] or len(reached[far[1]]) == before:
            return found


def distinct_rows(table: pa.Table) -> pa.Table:
    """Return the rows of shared nodes or relationships without repetitions; the first is kept."""
    if "key" in table.column_names:
        keys = table.column("key")
    else:
        ends = (table.column("source"), table.column("target"), "\0")
        # the stubs do not allow a text next to columns
        keys = pc.binary_join_element_wise(*ends)  # type: ignore[call-overload]
    return table.take(pc.index_in(pc.unique(keys), value_set=keys))


def origins_of(compilations: pa.Table) -> dict[str, Origin]:
    """Return the origin of each compilation, by key."""
    digests = cast("list[str | None]", compilations.column("sha256").to_pylist())
    folders = cast("list[str | None]", compilations.column("path").to_pylist())
    details = cast("list[str | None]", compilations.column("detail").to_pylist())
    return {
        key: Origin(*origin)
        for key, *origin in zip(keys_of(compilations), digests, folders, details, strict=True)
    }


def keys_of(table: pa.Table) -> list[str]:
    """Return the keys of nodes, in order."""
    return cast("list[str]", table.column("key").to_pylist())


def with_run_renamed(rows: CompilationRows, old: str, new: str) -> CompilationRows:
    """Return the rows of a run, renamed: in every key and on the run itself."""
    moved_labels = {node.label for node in SCHEMA.nodes if not node.is_shared} | {"Run"}
    nodes: dict[str, pa.Table] = {}
    for label, table in rows.nodes.items():
        names = {"key", "name"} if label == "Run" else {"key", "compilation", "run"}
        moved = names.intersection(table.column_names) if label in moved_labels else ()
        nodes[label] = _renamed(table, moved, old, new)
    relationships = {
        relationship.name: _renamed(
            rows.relationships[relationship.name],
            [
                end
                for end, label in (("source", relationship.source), ("target", relationship.target))
                if label in moved_labels
            ],
            old,
            new,
        )
        for relationship in SCHEMA.relationships
    }
    return CompilationRows(nodes, relationships)


def _renamed(table: pa.Table, columns: Iterable[str], old: str, new: str) -> pa.Table:
    """Replace the run's name at the beginning of some columns."""
    for name in columns:
        texts = cast("list[str]", table.column(name).to_pylist())
        moved: pa.Array[Any] = pa.array(
            [new + text.removeprefix(old) for text in texts], pa.string()
        )
        index = table.schema.get_field_index(name)
        table = table.set_column(index, table.schema.field(name), moved)
    return table


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
            if name in _SHARED_SOURCES:
                table = table.filter(pc.is_in(table.column("source"), new[_SHARED_SOURCES[name]]))
            yield name, table


def unseen_row_numbers(nodes: pa.Table, seen: set[str]) -> "pa.Int32Array":
    """Return the numbers of rows with new keys, and remember these keys."""
    rows = []
    for row, key in enumerate(keys_of(nodes)):
        if key not in seen:
            seen.add(key)
            rows.append(row)
    return pa.array(rows, pa.int32())
