"""Reads a compilation back from a graph, in statements that both engines understand.

Every statement is made from the schema: parts are found by the key of their compilation,
the ends of relationships by key, shared nodes by walking from the parts.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pyarrow as pa

from xlagraph.graph.engine import Cell, Result
from xlagraph.graph.errors import NameUnknown
from xlagraph.graph.rows import NODE_COLUMNS, RELATIONSHIP_COLUMNS, CompilationRows, keys_of
from xlagraph.graph.schema import SCHEMA, NodeType, RelationshipType

Query = Callable[[str, Mapping[str, Cell]], Result]

_SHARED: Final = frozenset(node.label for node in SCHEMA.nodes if node.shared)


def read_compilation(query: Query, compilation: str) -> CompilationRows:
    """Give the rows of a complete compilation, nodes in the order of their keys."""
    found = query(
        "MATCH (c:Compilation {key: $compilation}) RETURN c.state AS state",
        {"compilation": compilation},
    )
    if found.rows != (("complete",),):
        raise NameUnknown(f"no compilation {compilation} in the graph")
    nodes = {
        node.label: _columns(
            NODE_COLUMNS[node.label], query(_node_text(node), {"compilation": compilation})
        )
        for node in SCHEMA.nodes
        if not node.shared
    }
    ends = {
        relationship.name: query(_relationship_text(relationship), {"compilation": compilation})
        for relationship in SCHEMA.relationships
        if not _joins_shared(relationship)
    }
    shared = _shared_keys(query, ends)
    for node in SCHEMA.nodes:
        if node.shared:
            rows = query(_lookup_text(node), {"keys": sorted(shared[node.label])})
            nodes[node.label] = _columns(NODE_COLUMNS[node.label], rows)
    row_by_key = {
        label: {key: row for row, key in enumerate(keys_of(table))}
        for label, table in nodes.items()
    }
    relationships = {
        relationship.name: _relationship_columns(relationship, ends[relationship.name], row_by_key)
        for relationship in SCHEMA.relationships
    }
    return CompilationRows({node.label: nodes[node.label] for node in SCHEMA.nodes}, relationships)


def _joins_shared(relationship: RelationshipType) -> bool:
    return relationship.source in _SHARED and relationship.target in _SHARED


def _shared_keys(query: Query, ends: dict[str, Result]) -> dict[str, set[str]]:
    """Collect the keys of shared nodes, walking on until nothing new comes."""
    found: dict[str, set[str]] = {label: set() for label in sorted(_SHARED)}
    for relationship in SCHEMA.relationships:
        if not _joins_shared(relationship):
            for place, label in enumerate((relationship.source, relationship.target)):
                if label in _SHARED:
                    found[label] |= {str(row[place]) for row in ends[relationship.name].rows}
    between = [item for item in SCHEMA.relationships if _joins_shared(item)]
    for relationship in between:
        ends[relationship.name] = Result(("source", "target"), ())
    fresh = {label: set(keys) for label, keys in found.items()}
    while any(fresh.values()):
        reached: dict[str, set[str]] = {label: set() for label in found}
        for relationship in between:
            if keys := sorted(fresh[relationship.source]):
                result = query(_between_text(relationship), {"keys": keys})
                ends[relationship.name] = Result(
                    result.columns, ends[relationship.name].rows + result.rows
                )
                reached[relationship.target] |= {str(row[1]) for row in result.rows}
        fresh = {label: keys - found[label] for label, keys in reached.items()}
        for label, new_keys in fresh.items():
            found[label] |= new_keys
    return found


def _returned(variable: str, names: Sequence[str]) -> str:
    return ", ".join(f"{variable}.{name} AS {name}" for name in names)


def _node_text(node: NodeType) -> str:
    owner = "key" if node.label == "Compilation" else "compilation"
    return (
        f"MATCH (n:{node.label}) WHERE n.{owner} = $compilation "
        f"RETURN {_returned('n', NODE_COLUMNS[node.label].names)} ORDER BY key"
    )


def _lookup_text(node: NodeType) -> str:
    return (
        f"UNWIND $keys AS wanted MATCH (n:{node.label} {{key: wanted}}) "
        f"RETURN {_returned('n', NODE_COLUMNS[node.label].names)} ORDER BY key"
    )


def _relationship_text(relationship: RelationshipType) -> str:
    if relationship.target == "Compilation":
        owner = "b.key"
    elif relationship.source == "Compilation":
        owner = "a.key"
    else:
        owner = "a.compilation"
    return (
        f"MATCH (a:{relationship.source})-[r:{relationship.name}]->(b:{relationship.target}) "
        f"WHERE {owner} = $compilation {_ends_returned(relationship)}"
    )


def _between_text(relationship: RelationshipType) -> str:
    return (
        f"UNWIND $keys AS wanted MATCH (a:{relationship.source} {{key: wanted}})"
        f"-[r:{relationship.name}]->(b:{relationship.target}) {_ends_returned(relationship)}"
    )


def _ends_returned(relationship: RelationshipType) -> str:
    names = [item.name for item in relationship.properties]
    text = "RETURN a.key AS source, b.key AS target"
    return f"{text}, {_returned('r', names)}" if names else text


def _columns(schema: pa.Schema, result: Result) -> pa.Table:
    columns = zip(*result.rows, strict=True) if result.rows else [()] * len(schema)
    return pa.table(
        [pa.array(list(cells), field.type) for cells, field in zip(columns, schema, strict=True)],
        schema=schema,
    )


def _relationship_columns(
    relationship: RelationshipType,
    result: Result,
    row_by_key: Mapping[str, Mapping[str, int]],
) -> pa.Table:
    sources, targets = row_by_key[relationship.source], row_by_key[relationship.target]
    rows = tuple(
        (sources[str(source)], targets[str(target)], *properties)
        for source, target, *properties in result.rows
    )
    return _columns(RELATIONSHIP_COLUMNS[relationship.name], Result(result.columns, rows))
