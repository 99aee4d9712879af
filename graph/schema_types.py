"""The elements of a schema, and the typed rows of its labels and relationship types.

A label is a class of rows, which `SCHEMA` is made of. Its docstring and annotations say everything
about it:

    class OpNodes(NodeRows, is_shared=True):
        \"\"\"An op name, shared by all compilations.\"\"\"

        key: Names = described("the op name")
        name: Strings = described("the op name", is_indexed=True)

An object of such a class has one column for each property: ``OpNodes(key=names, name=names)``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Any, ClassVar, Final, NamedTuple, dataclass_transform

Strings = Sequence[str | None]
Integers = Sequence[int | None]
Booleans = Sequence[bool | None]
StringLists = Sequence[Sequence[str] | None]
Names = Sequence[str]
"""Keys; those of a part without the key of its compilation."""
Numbers = Sequence[int]
"""Keys that are numbers, unique within a compilation."""
Column = Strings | Integers | Booleans | StringLists


class PropertyType(StrEnum):
    """Property types that both engines store alike."""

    STRING = "STRING"
    INTEGER = "INTEGER"
    BOOLEAN = "BOOLEAN"
    STRING_LIST = "STRING LIST"


_TYPES: Final[Mapping[object, PropertyType]] = {
    Strings: PropertyType.STRING,
    Integers: PropertyType.INTEGER,
    Booleans: PropertyType.BOOLEAN,
    StringLists: PropertyType.STRING_LIST,
    Names: PropertyType.STRING,
    Numbers: PropertyType.STRING,
}


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a node or relationship; camelCase, the unit in its name."""

    name: str
    type: PropertyType
    description: str
    is_indexed: bool = False
    """True if a server indexes it. The embedded engine indexes only keys."""
    is_captioned: bool = False
    """True if the next property is its text."""


@dataclass(frozen=True, slots=True)
class NodeType:
    """A label. Every node has a unique ``key``, which is its first property."""

    label: str
    description: str
    properties: tuple[Property, ...]
    is_shared: bool = False
    """True if compilations share the nodes: merged by key, removed when unused."""
    key_prefix: str | None = None
    """Text between the key of a compilation and the keys of its parts; None for other nodes."""
    has_numbers: bool = False
    """True if the keys of parts are numbers."""

    @property
    def is_part(self) -> bool:
        """True if its nodes are parts of one compilation."""
        return self.key_prefix is not None


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

    def node(self, label: str) -> NodeType:
        """Return a node type by its label; KeyError if there is none."""
        return {node.label: node for node in self.nodes}[label]

    def relationship(self, name: str) -> RelationshipType:
        """Return a relationship type by name; KeyError if there is none."""
        return {relationship.name: relationship for relationship in self.relationships}[name]

    def arriving_at(self, label: str) -> tuple[RelationshipType, ...]:
        """Return the relationship types that end at a label."""
        return tuple(
            relationship for relationship in self.relationships if relationship.target == label
        )


class _Described(NamedTuple):
    description: str
    is_indexed: bool
    is_captioned: bool


def described(description: str, *, is_indexed: bool = False, is_captioned: bool = False) -> Any:  # noqa: ANN401 - a field specifier, like `dataclasses.field`
    """Describe a property in the class of its rows.

    A captioned byte count is also stored as readable text, because captions can only show
    properties: Neo4j Browser shows numbers with all digits and without a unit.
    """
    return _Described(description, is_indexed, is_captioned)


@dataclass_transform(kw_only_default=True, field_specifiers=(described,))
class Rows:
    """Rows as columns of equal length, one for each annotation of a class."""

    table: ClassVar[str]
    """The label or relationship type."""
    declared: "ClassVar[NodeType | RelationshipType]"
    stored_names: ClassVar[Mapping[str, str]]
    """Names in the graph by the names of the columns here: ``sizeBytes`` by ``size_bytes``."""

    def __init__(self, **columns: Column) -> None:
        if columns.keys() != self.stored_names.keys():
            unfit = sorted(columns.keys() ^ self.stored_names.keys())
            raise TypeError(f"{type(self).__name__} requires other columns; see {unfit}")
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns of {type(self).__name__} differ in length: {lengths}")
        vars(self).update(columns)
        (self._length,) = lengths

    def __len__(self) -> int:
        return self._length

    @classmethod
    def joined(cls, parts: "Sequence[Rows]") -> dict[str, Column]:
        """Return the columns of all parts by their names in the graph."""
        if len(parts) == 1:
            return {stored: vars(parts[0])[name] for name, stored in cls.stored_names.items()}
        return {
            stored: list(chain.from_iterable([vars(part)[name] for part in parts]))
            for name, stored in cls.stored_names.items()
        }


class NodeRows(Rows):
    """Rows of nodes of one label, which is the name of the class without ``Nodes``.

    The keys of parts do not contain the key of their compilation, which is added when the rows of
    several compilations are joined, together with the property ``compilation``.
    """

    declared: ClassVar[NodeType]

    def __init_subclass__(cls, *, is_shared: bool = False, key_prefix: str | None = None) -> None:
        properties = list(_properties(cls))
        if key_prefix is not None:
            properties.insert(1, _COMPILATION)
        cls.table = cls.__name__.removesuffix("Nodes")
        cls.stored_names = {name: column_name(name) for name in cls.__annotations__}
        cls.declared = NodeType(
            cls.table,
            _description(cls),
            tuple(properties),
            is_shared,
            key_prefix,
            cls.__annotations__["key"] == Numbers,
        )


class RelationshipRows(Rows):
    """Rows of relationships of one type: `MayOverwriteRows` are those of ``MAY_OVERWRITE``.

    The ends are row numbers among the nodes of the same compilation.
    """

    declared: ClassVar[RelationshipType]
    source: Sequence[int]
    target: Sequence[int]

    def __init_subclass__(cls, *, source: type[NodeRows], target: type[NodeRows]) -> None:
        cls.table = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__.removesuffix("Rows")).upper()
        cls.declared = RelationshipType(
            cls.table, source.table, target.table, _description(cls), _properties(cls)
        )
        names = ("source", "target", *cls.__annotations__)
        cls.stored_names = {name: column_name(name) for name in names}


_COMPILATION: Final = Property(
    "compilation", PropertyType.STRING, "key of the compilation that it is a part of", True
)


def caption_property(counted: str) -> str:
    """Return the property with a byte count as a string: `sizeText` for `sizeBytes`."""
    return counted.removesuffix("Bytes") + "Text"


def _properties(rows: type[Rows]) -> tuple[Property, ...]:
    found: list[Property] = []
    for field, kind in rows.__annotations__.items():
        text: _Described = vars(rows)[field]
        name = column_name(field)
        found.append(Property(name, _TYPES[kind], *text))
        if text.is_captioned:
            caption = f"{name} with a unit, for captions: `1.5 MiB`"
            found.append(Property(caption_property(name), PropertyType.STRING, caption))
    return tuple(found)


def column_name(field: str) -> str:
    """Return the property or column that holds a field: `sizeBytes` for `size_bytes`."""
    first, *others = field.split("_")
    return first + "".join(map(str.capitalize, others))


def _description(rows: type[Rows]) -> str:
    """Return the docstring as a phrase: without its full stop, and not capitalised."""
    text = " ".join((rows.__doc__ or "").split()).removesuffix(".")
    is_word = text[1:2].islower() or text[1:2] == " "
    return text[:1].lower() + text[1:] if is_word else text
