"""The labels and relationship types of a compilation, and those that compilations share."""

from typing import Final

from xlagraph.graph.schema import SCHEMA

PARTS: Final = tuple(node for node in SCHEMA.nodes if node.is_part)
PART_LABELS: Final = tuple(node.label for node in PARTS)

SHARED: Final = tuple(node for node in SCHEMA.nodes if node.is_shared)
SHARED_LABELS: Final = tuple(node.label for node in SHARED)

IMMUTABLE_LABELS: Final = tuple(label for label in SHARED_LABELS if label != "Run")
"""Labels whose nodes never change; runs differ in their time of ingest."""

SHARED_RELATIONSHIPS: Final = tuple(
    relationship
    for relationship in SCHEMA.relationships
    if {relationship.source, relationship.target}.issubset(SHARED_LABELS)
)
"""Relationship types that are written with the shared node at their start."""

SHARED_TABLES: Final = frozenset(
    (*SHARED_LABELS, *(relationship.name for relationship in SHARED_RELATIONSHIPS))
)
"""Labels and types whose rows several compilations can share; each row is stored once."""
