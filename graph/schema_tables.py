"""Which labels and relationship types belong to one compilation, and which are shared."""

from typing import Final

from xlagraph.graph.schema import SCHEMA

PARTS: Final = tuple(node for node in SCHEMA.nodes if node.is_part)
PART_LABELS: Final = tuple(node.label for node in PARTS)

SHARED: Final = tuple(node for node in SCHEMA.nodes if node.is_shared)
SHARED_LABELS: Final = tuple(node.label for node in SHARED)

IMMUTABLE_LABELS: Final = tuple(label for label in SHARED_LABELS if label != "Run")
"""Labels whose nodes are the same wherever they are made; runs differ in when."""

SHARED_RELATIONSHIPS: Final = tuple(
    relationship
    for relationship in SCHEMA.relationships
    if {relationship.source, relationship.target}.issubset(SHARED_LABELS)
)
"""What is written together with the shared node that it leaves."""

SHARED_TABLES: Final = frozenset(
    (*SHARED_LABELS, *(relationship.name for relationship in SHARED_RELATIONSHIPS))
)
"""Labels and types whose rows several compilations may have, each of which is kept once."""
