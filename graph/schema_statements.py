"""Statements that follow from the schema and work on both engines.

Statements for one engine are in `schema_statements` of its package. Statements that do not depend
on the schema are in `statements/NAME.cypher`.
"""

from xlagraph.graph.schema import SCHEMA
from xlagraph.graph.schema_types import NodeType, RelationshipType


def look_up_nodes(node: NodeType) -> str:
    """Return the statement that reads the properties of the nodes with `$keys`."""
    columns = ", ".join(f"n.{property_.name} AS {property_.name}" for property_ in node.properties)
    return f"UNWIND $keys AS wanted MATCH (n:{node.label} {{key: wanted}}) RETURN {columns}"


def walk_relationship(relationship: RelationshipType, start: str) -> str:
    """Return the statement that walks from the nodes of some `$keys`, of the label `start`.

    Its rows are the keys of both ends and the properties of the relationship.
    """
    nearer, further = ("a", "b") if start == relationship.source else ("b", "a")
    # with a plain MATCH the embedded engine would read the whole relationship table
    return (
        f"UNWIND $keys AS wanted MATCH ({nearer}:{start} {{key: wanted}}) OPTIONAL MATCH "
        f"(a:{relationship.source})-[r:{relationship.name}]->(b:{relationship.target}) "
        f"WITH a, r, b WHERE {further}.key IS NOT NULL "
        f"RETURN a.key AS source, b.key AS target"
        + "".join(
            f", r.{property_.name} AS {property_.name}" for property_ in relationship.properties
        )
    )


def is_unused(label: str) -> str:
    """Return the condition that a shared node n is unused."""
    if label == "Run":
        return "NOT EXISTS { MATCH (n)-[:COMPILED]->() }"
    return " AND ".join(
        f"NOT EXISTS {{ MATCH (n)<-[:{relationship.name}]-() }}"
        for relationship in SCHEMA.arriving_at(label)
    )
