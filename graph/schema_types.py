"""The elements of a schema: labels, relationship types and properties, with their checks."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "NodeType",
    "Property",
    "PropertyType",
    "RelationshipType",
    "Schema",
    "boolean",
    "caption_property",
    "captioned_bytes",
    "integer",
    "string",
    "strings",
]


class PropertyType(StrEnum):
    """Property types that both engines store alike."""

    STRING = "STRING"
    INTEGER = "INTEGER"
    BOOLEAN = "BOOLEAN"
    STRING_LIST = "STRING LIST"


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a node or relationship; camelCase, the unit in its name."""

    name: str
    type: PropertyType
    description: str
    is_indexed: bool = False
    """True if a server indexes it. The embedded engine indexes only keys."""


@dataclass(frozen=True, slots=True)
class NodeType:
    """A label. Every node has a unique ``key``, which is its first property."""

    label: str
    description: str
    properties: tuple[Property, ...]
    is_shared: bool = False
    """True if compilations share the nodes: merged by key, removed when unused."""

    @property
    def is_part(self) -> bool:
        """True if its nodes are parts of one compilation."""
        return any(property_.name == "compilation" for property_ in self.properties)


@dataclass(frozen=True, slots=True)
class RelationshipType:
    """A relationship type, with the labels of its two ends."""

    name: str
    source: str
    target: str
    description: str
    properties: tuple[Property, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """All labels and relationship types, in the order in which they are written."""

    nodes: tuple[NodeType, ...]
    relationships: tuple[RelationshipType, ...]

    def __post_init__(self) -> None:
        labels = [node.label for node in self.nodes]
        types = [relationship.name for relationship in self.relationships]
        for kind, names in (("label", labels), ("relationship type", types)):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"{kind} {twice[0]} is declared twice")
        for node in self.nodes:
            if not node.properties or node.properties[0].name != "key":
                raise ValueError(f"label {node.label} must declare `key` as its first property")
        for relationship in self.relationships:
            for end in (relationship.source, relationship.target):
                if end not in labels:
                    raise ValueError(
                        f"relationship type {relationship.name} ends at {end}, which is not a label"
                    )

    def relationship(self, name: str) -> RelationshipType:
        """Return a relationship type by name; KeyError if there is none."""
        for relationship in self.relationships:
            if relationship.name == name:
                return relationship
        raise KeyError(name)

    def arriving_at(self, label: str) -> tuple[RelationshipType, ...]:
        """Return the relationship types that end at a label."""
        return tuple(
            relationship for relationship in self.relationships if relationship.target == label
        )


def string(name: str, description: str, *, is_indexed: bool = False) -> Property:
    """Return a property that holds a text."""
    return Property(name, PropertyType.STRING, description, is_indexed)


def integer(name: str, description: str, *, is_indexed: bool = False) -> Property:
    """Return a property that holds a whole number."""
    return Property(name, PropertyType.INTEGER, description, is_indexed)


def caption_property(counted: str) -> str:
    """Return the name of the text of a byte count: `sizeText` for `sizeBytes`."""
    return counted.removesuffix("Bytes") + "Text"


def captioned_bytes(name: str, description: str) -> tuple[Property, Property]:
    """Return a byte count property and its text, because captions can only show properties.

    Neo4j Browser shows numbers with all digits and without a unit.
    """
    text = string(caption_property(name), f"{name} with a unit, for captions: `1.5 MiB`")
    return integer(name, description), text


def strings(name: str, description: str) -> Property:
    """Return a property that holds a list of texts."""
    return Property(name, PropertyType.STRING_LIST, description)


def boolean(name: str, description: str) -> Property:
    """Return a property that holds a truth value."""
    return Property(name, PropertyType.BOOLEAN, description)
