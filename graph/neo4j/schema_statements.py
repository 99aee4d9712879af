# ruff: noqa: PERF401  statements are built line by line, which is easier to read
"""Statements of the Neo4j engine that follow from the schema.

All parameters of a statement are in one map, `$given`. If lists were separate parameters, the
server would plan the statement again for each order of magnitude of each list: half the time of an
ingest of small compilations.

A compilation that is not complete is a `Loading` node; its parts hang off it, and a `Claim` node
of the same key names the load that writes or removes it. `Loading`, `Claim` and `Load` have neither
constraint nor index, so that no picture of the schema shows them: only a few are there at a time,
and two loads exclude each other by the unique key of `Compilation`.

The server applies a commit piece by piece: properties, relationships and labels of one transaction
are seen one after the other, and a property that is rewritten may be missed. So the label alone
decides. Nothing else of a node changes while it is labelled `Compilation`: it gets its properties
before the label, and loses its relationships and parts after it.

Rows are sent as columns, one list for each property: packing and unpacking them costs 20 %
less than rows as maps, and the client never builds a row. A chunk is one statement. It looks
up the nodes that earlier chunks or other compilations made, makes its own, and joins them by
their indexes in the two lists, so that a relationship costs no look-up.
"""

from collections.abc import Sequence
from typing import Final

from xlagraph.graph.schema import (
    PART_LABELS,
    PARTS,
    SCHEMA,
    SHARED,
    SHARED_LABELS,
    SHARED_RELATIONSHIPS,
)
from xlagraph.graph.schema_statements import is_unused
from xlagraph.graph.schema_types import NodeType, RelationshipType

PART_RELATIONSHIPS: Final = tuple(
    relationship
    for relationship in SCHEMA.relationships
    if not {relationship.source, relationship.target}.isdisjoint(PART_LABELS)
)
"""Relationship types that a chunk writes: at least one end is a part."""

COMPILATION_RELATIONSHIPS: Final = tuple(
    relationship
    for relationship in SCHEMA.relationships
    if relationship not in PART_RELATIONSHIPS and relationship not in SHARED_RELATIONSHIPS
)
"""Types that connect a compilation to run and module, written when it becomes visible."""

MERGED: Final = tuple(
    node
    for node in SHARED
    if any(
        node.label == relationship.target
        for relationship in (*PART_RELATIONSHIPS, *SHARED_RELATIONSHIPS)
    )
)
"""Labels of shared nodes that must exist before a chunk."""

REPLACED: Final = tuple(node for node in SHARED if node not in MERGED)
"""Labels of shared nodes written in the transaction that makes a compilation visible."""

LOOKED_UP: Final = tuple(
    node.label
    for node in SCHEMA.nodes
    if node.label in PART_LABELS
    or any(
        node.label in (relationship.source, relationship.target)
        for relationship in PART_RELATIONSHIPS
    )
)
"""Labels of the end nodes of the relationships of a chunk."""


def constraints() -> list[str]:
    """Return the statements that make keys unique; they can be repeated."""
    return [
        f"CREATE CONSTRAINT xlagraph_{node.label}_key IF NOT EXISTS "
        f"FOR (n:{node.label}) REQUIRE n.key IS UNIQUE"
        for node in SCHEMA.nodes
    ]


def indexes() -> list[str]:
    """Return the statements that create indexes; they can be repeated."""
    return [
        f"CREATE INDEX xlagraph_{node.label}_{property_.name} IF NOT EXISTS "
        f"FOR (n:{node.label}) ON (n.{property_.name})"
        for node in SCHEMA.nodes
        for property_ in node.properties
        if property_.is_indexed
    ]


def drop_index(name: str) -> str:
    """Return the statement that drops an index."""
    return f"DROP INDEX {name} IF EXISTS"


def write_chunk() -> str:
    """Return the statement that writes a chunk; it returns no row if it did not write.

    It does nothing if another process ended the load, if the chunk was written
    before, or if a node that it looks up is missing.
    """
    # the write locks the node, so the reads that follow see the previous transaction's result
    lines = ["MATCH (claim:Load {key: $given.worker}) SET claim.heartbeat = timestamp()"]
    lines.append("WITH claim WHERE claim.count < $given.count")
    carried = []
    for label in LOOKED_UP:
        found = (
            "MATCH (n:Loading) WHERE elementId(n) = key"
            if label == "Compilation"
            else f"MATCH (n:{label} {{key: key}})"
        )
        lines.append(
            f"CALL () {{ UNWIND $given.old_{label} AS key {found} "
            f"RETURN collect(n) AS old_{label} }}"
        )
        carried.append(f"old_{label}")
    fits = " AND ".join(f"size(old_{label}) = size($given.old_{label})" for label in LOOKED_UP)
    lines.append(f"WITH claim, {', '.join(carried)} WHERE {fits}")
    lines.append("SET claim.count = $given.count")
    lines.append(f"WITH {', '.join(carried)}")
    for node in PARTS:
        lines.append(
            f"CALL () {{ UNWIND range(0, size($given.{node.label}_key) - 1) AS i "
            f"CREATE (n:{node.label} {_properties(node)}) RETURN collect(n) AS new_{node.label} }}"
        )
    lists = [
        f"new_{label} + old_{label} AS {label}"
        if label in PART_LABELS
        else f"old_{label} AS {label}"
        for label in LOOKED_UP
    ]
    lines.append(f"WITH {', '.join(lists)}")
    for relationship in PART_RELATIONSHIPS:
        ends = ", ".join(dict.fromkeys((relationship.source, relationship.target)))
        lines.append(
            f"CALL ({ends}) {{ UNWIND range(0, size($given.{relationship.name}_source) - 1) AS i "
            f"WITH i, {relationship.source}[$given.{relationship.name}_source[i]] AS a, "
            f"{relationship.target}[$given.{relationship.name}_target[i]] AS b "
            f"CREATE (a)-[:{relationship.name} {_properties(relationship)}]->(b) "
            f"RETURN count(*) AS made_{relationship.name} }}"
        )
    made = " + ".join(f"made_{relationship.name}" for relationship in PART_RELATIONSHIPS)
    lines.append(f"RETURN {made} AS relationships")
    return "\n".join(lines)


def merge_nodes(node: NodeType) -> str:
    """Return the statement that creates missing shared nodes; it counts its rows."""
    given = ", ".join(
        f"n.{property_.name} = row[{index}]" for index, property_ in enumerate(node.properties)
    )
    return (
        f"UNWIND $given.rows AS row MERGE (n:{node.label} {{key: row[0]}}) ON CREATE SET {given} "
        "RETURN count(*) AS merged"
    )


def merge_relationships(relationship: RelationshipType) -> str:
    """Return the statement that connects nodes by their keys once; it counts the nodes found."""
    return (
        f"UNWIND $given.rows AS row MATCH (a:{relationship.source} {{key: row[0]}}) "
        f"MATCH (b:{relationship.target} {{key: row[1]}}) MERGE (a)-[:{relationship.name}]->(b) "
        "RETURN count(*) AS merged"
    )


def replace_nodes(node: NodeType) -> str:
    """Return the statement that creates or updates shared nodes."""
    return f"UNWIND $given.rows AS row MERGE (n:{node.label} {{key: row.key}}) SET n = row"


def delete_relationships(relationship: RelationshipType) -> str:
    """Return the statement that disconnects hidden compilations from runs and modules.

    It returns the keys of the nodes at the other end.
    """
    path = (
        f"-[r:{relationship.name}]->(n:{relationship.target})"
        if relationship.source == "Compilation"
        else f"<-[r:{relationship.name}]-(n:{relationship.source})"
    )
    return (
        f"MATCH (c:Loading) WHERE c.key IN $given.keys MATCH (c){path} "
        "WITH r, n.key AS other DELETE r RETURN DISTINCT other"
    )


def delete_parts(node: NodeType) -> str:
    """Return the statement that deletes some parts of a compilation.

    It returns their number, and the keys of the shared nodes that they referred to, by type.
    """
    return _delete_nodes(
        f"MATCH (n:{node.label} {{compilation: $given.compilation}}) WITH n LIMIT $given.limit",
        [
            relationship
            for relationship in PART_RELATIONSHIPS
            if relationship.source == node.label and relationship.target in SHARED_LABELS
        ],
    )


def lock_shared(label: str) -> str:
    """Return the statement that write-locks nodes until the commit."""
    return f"UNWIND $given.keys AS key MATCH (n:{label} {{key: key}}) SET n.key = n.key"


def delete_orphans(label: str) -> str:
    """Return the statement that deletes the locked nodes that are unused.

    It returns their number, and the keys of the shared nodes that they referred to, by type.
    """
    return _delete_nodes(
        f"UNWIND $given.keys AS key MATCH (n:{label} {{key: key}}) WHERE {is_unused(label)}",
        [relationship for relationship in SHARED_RELATIONSHIPS if relationship.source == label],
    )


def _delete_nodes(match: str, to_shared: Sequence[RelationshipType]) -> str:
    """Return the statement that deletes each n of a match and returns the keys they referred to."""
    lines = [match, "WITH collect(n) AS found"]
    lines += [
        f"CALL (found) {{ UNWIND found AS n MATCH (n)-[:{relationship.name}]->"
        f"(s:{relationship.target}) RETURN collect(DISTINCT s.key) AS {relationship.name} }}"
        for relationship in to_shared
    ]
    lines.append("CALL (found) { UNWIND found AS n DETACH DELETE n }")
    names = "".join(f", {relationship.name}" for relationship in to_shared)
    lines.append(f"RETURN size(found) AS deleted{names}")
    return "\n".join(lines)


def unused_keys(label: str) -> str:
    """Return the statement that finds shared nodes that are unused at this moment."""
    return f"MATCH (n:{label}) WHERE {is_unused(label)} RETURN n.key AS key"


def _properties(owner: NodeType | RelationshipType) -> str:
    name = owner.label if isinstance(owner, NodeType) else owner.name
    given = ", ".join(
        f"{property_.name}: $given.{name}_{property_.name}[i]" for property_ in owner.properties
    )
    return f"{{{given}}}"
