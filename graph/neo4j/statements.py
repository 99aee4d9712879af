# ruff: noqa: PERF401  statements grow line by line, and are read so
"""The statements that write to Neo4j, made from the schema once.

Rows are sent as columns, one parameter for each property: packing and unpacking them costs
20 % less than rows as maps, and the client never builds a row.

A chunk is one statement. It looks up the nodes that earlier chunks or other compilations
made, makes its own, and joins them by their places in the two lists, so that a relationship
costs no look-up.
"""

from typing import Final

from xlagraph.graph.schema import (
    BETWEEN_SHARED,
    PARTS,
    SCHEMA,
    SHARED,
    NodeType,
    RelationshipType,
)

_PART_LABELS: Final = frozenset(node.label for node in PARTS)
_SHARED_LABELS: Final = frozenset(node.label for node in SHARED)

OF_PARTS: Final = tuple(
    item for item in SCHEMA.relationships if {item.source, item.target} & _PART_LABELS
)
"""What a chunk writes: types with a part at one end at least."""

OF_COMPILATIONS: Final = tuple(
    item for item in SCHEMA.relationships if item not in OF_PARTS and item not in BETWEEN_SHARED
)
"""What makes a compilation visible, written last."""

MERGED: Final = tuple(
    node
    for node in SHARED
    if any(node.label == item.target for item in (*OF_PARTS, *BETWEEN_SHARED))
)
"""Shared nodes that must be there before a chunk."""

MERGED_LAST: Final = tuple(node for node in SHARED if node not in MERGED)
"""Shared nodes that are written with what makes a compilation visible."""

LOOKED_UP: Final = tuple(
    node.label
    for node in SCHEMA.nodes
    if node.label in _PART_LABELS
    or any(node.label in (item.source, item.target) for item in OF_PARTS)
)
"""Labels at whose nodes the relationships of a chunk end."""


def constraints() -> list[str]:
    """Give the statements that make a database ready; each may be repeated."""
    labels = [node.label for node in SCHEMA.nodes] + ["Schema", "Load"]
    unique = [
        f"CREATE CONSTRAINT xlagraph_{label}_key IF NOT EXISTS "
        f"FOR (n:{label}) REQUIRE n.key IS UNIQUE"
        for label in labels
    ]
    indexes = [
        f"CREATE INDEX xlagraph_{node.label}_compilation IF NOT EXISTS "
        f"FOR (n:{node.label}) ON (n.compilation)"
        for node in PARTS
    ]
    return unique + indexes


def chunk() -> str:
    """Give the statement that writes a chunk; no row if it did not.

    It does nothing if the load was given up by somebody else, if the chunk was written
    before, or if a node that it looks up is missing.
    """
    lines = ["MATCH (claim:Load {key: $worker}) WHERE claim.chunk < $chunk", "WITH claim"]
    carried = []
    for label in LOOKED_UP:
        lines.append(
            f"CALL () {{ UNWIND $old_{label} AS key MATCH (n:{label} {{key: key}}) "
            f"RETURN collect(n) AS old_{label} }}"
        )
        carried.append(f"old_{label}")
    fits = " AND ".join(f"size(old_{label}) = size($old_{label})" for label in LOOKED_UP)
    lines.append(f"WITH claim, {', '.join(carried)} WHERE {fits}")
    lines.append("SET claim.chunk = $chunk, claim.heartbeat = timestamp()")
    lines.append(f"WITH {', '.join(carried)}")
    for node in PARTS:
        lines.append(
            f"CALL () {{ UNWIND range(0, size(${node.label}_key) - 1) AS i "
            f"CREATE (n:{node.label} {_properties(node)}) RETURN collect(n) AS new_{node.label} }}"
        )
    lists = [
        f"new_{label} + old_{label} AS {label}"
        if label in _PART_LABELS
        else f"old_{label} AS {label}"
        for label in LOOKED_UP
    ]
    lines.append(f"WITH {', '.join(lists)}")
    for item in OF_PARTS:
        ends = ", ".join(dict.fromkeys((item.source, item.target)))
        lines.append(
            f"CALL ({ends}) {{ UNWIND range(0, size(${item.name}_source) - 1) AS i "
            f"WITH i, {item.source}[${item.name}_source[i]] AS a, "
            f"{item.target}[${item.name}_target[i]] AS b "
            f"CREATE (a)-[:{item.name} {_properties(item)}]->(b) "
            f"RETURN count(*) AS made_{item.name} }}"
        )
    made = " + ".join(f"made_{item.name}" for item in OF_PARTS)
    lines.append(f"RETURN {made} AS relationships")
    return "\n".join(lines)


def merge_nodes(node: NodeType) -> str:
    """Give the statement that makes shared nodes that are not there yet; it counts its rows."""
    given = ", ".join(f"n.{item.name} = row[{place}]" for place, item in enumerate(node.properties))
    return (
        f"UNWIND $rows AS row MERGE (n:{node.label} {{key: row[0]}}) ON CREATE SET {given} "
        "RETURN count(*) AS merged"
    )


def merge_relationships(item: RelationshipType) -> str:
    """Give the statement that joins nodes by their keys, once each; it counts what it found."""
    return (
        f"UNWIND $rows AS row MATCH (a:{item.source} {{key: row[0]}}) "
        f"MATCH (b:{item.target} {{key: row[1]}}) MERGE (a)-[:{item.name}]->(b) "
        "RETURN count(*) AS merged"
    )


def delete_parts(node: NodeType) -> str:
    """Give the statement that deletes some parts of a compilation.

    It tells how many, and the keys of the shared nodes that they led to, by type.
    """
    lines = [
        f"MATCH (n:{node.label} {{compilation: $compilation}}) WITH n LIMIT $limit",
        "WITH collect(n) AS parts",
    ]
    led = [item for item in OF_PARTS if item.source == node.label and item.target in _SHARED_LABELS]
    for item in led:
        lines.append(
            f"CALL (parts) {{ UNWIND parts AS part MATCH (part)-[:{item.name}]->(s:{item.target}) "
            f"RETURN collect(DISTINCT s.key) AS {item.name} }}"
        )
    lines.append("CALL (parts) { UNWIND parts AS part DETACH DELETE part }")
    names = "".join(f", {item.name}" for item in led)
    lines.append(f"RETURN size(parts) AS deleted{names}")
    return "\n".join(lines)


def lock_shared(label: str) -> str:
    """Give the statement that write-locks nodes: nobody can begin to use them until we commit."""
    return f"UNWIND $keys AS key MATCH (n:{label} {{key: key}}) SET n.key = n.key"


def delete_orphans(label: str) -> str:
    """Give the statement that deletes those of the locked nodes that nothing uses.

    It tells the keys of the shared nodes that they led to, by type.
    """
    led = [item for item in BETWEEN_SHARED if item.source == label]
    lines = [
        f"UNWIND $keys AS key MATCH (n:{label} {{key: key}}) WHERE {_is_unused(label)}",
        "WITH collect(n) AS unused",
    ]
    for item in led:
        lines.append(
            f"CALL (unused) {{ UNWIND unused AS n MATCH (n)-[:{item.name}]->(s:{item.target}) "
            f"RETURN collect(DISTINCT s.key) AS {item.name} }}"
        )
    lines.append("CALL (unused) { UNWIND unused AS n DETACH DELETE n }")
    names = "".join(f", {item.name}" for item in led)
    lines.append(f"RETURN size(unused) AS deleted{names}")
    return "\n".join(lines)


def unused_keys(label: str) -> str:
    """Give the statement that finds shared nodes that nothing uses at this moment."""
    return f"MATCH (n:{label}) WHERE {_is_unused(label)} RETURN n.key AS key"


def _is_unused(label: str) -> str:
    """Give the condition that no compilation leads to a shared node n; a run leads to its own."""
    if label == "Run":
        return "NOT EXISTS { MATCH (n)-[:COMPILED]->() }"
    return " AND ".join(
        f"NOT EXISTS {{ MATCH (n)<-[:{item.name}]-() }}" for item in SCHEMA.arriving_at(label)
    )


def _properties(owner: NodeType | RelationshipType) -> str:
    name = owner.label if isinstance(owner, NodeType) else owner.name
    given = ", ".join(f"{item.name}: ${name}_{item.name}[i]" for item in owner.properties)
    return f"{{{given}}}"
