"""The schema of the graph as data: labels, relationship types, properties, keys.

Neo4j's constraints, the embedded engine's tables, the columns that an ingest fills, the lint of
canned queries and the reference in the docs are all derived from it: also which labels and
relationship types are of a compilation, shared, or stored at each level of detail.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from xlagraph.graph.schema_nodes import NODES
from xlagraph.graph.schema_relationships import RELATIONSHIPS
from xlagraph.graph.schema_types import Schema

VERSION: Final = 12
"""Version of the schema, stored in every graph. A graph with a newer version is rejected."""

SCHEMA: Final = Schema(NODES, RELATIONSHIPS)


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


class Detail(StrEnum):
    """Level of detail at which a compilation is stored."""

    ALL = "all"
    """Everything in its dump, and everything derived from it."""
    PEAK = "peak"
    """Totals, peaks, and the values live at the physical peak of a memory space."""


_LABELS_LEFT_OUT: Final[Mapping[Detail, frozenset[str]]] = {
    Detail.ALL: frozenset(),
    Detail.PEAK: frozenset({"Allocation", "Instruction"}),
}
_AMONG_VALUES: Final = ("UPDATES_IN_PLACE", "REUSES", "MAY_OVERWRITE")
_TYPES_LEFT_OUT: Final[Mapping[Detail, frozenset[str]]] = {
    Detail.ALL: frozenset(),
    Detail.PEAK: frozenset({*_AMONG_VALUES, "IN_PRINTED_PEAK"}),
}

LEFT_OUT: Final[Mapping[Detail, frozenset[str]]] = {
    detail: labels
    | _TYPES_LEFT_OUT[detail]
    | {
        relationship.name
        for relationship in SCHEMA.relationships
        if labels & {relationship.source, relationship.target}
    }
    for detail, labels in _LABELS_LEFT_OUT.items()
}
"""Labels and relationship types that are not stored at each level of detail."""


def is_stored(name: str, detail: Detail) -> bool:
    """Return True if rows of a label or relationship type are stored."""
    return name not in LEFT_OUT[detail]
