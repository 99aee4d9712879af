"""Styles of nodes and relationships, for Neo4j Browser and for our pictures.

Colours show the origin of a node: blue and green for the plan, orange and yellow for the user's
program, grey for runs. Sizes show containment: a run is larger than a compilation, an allocation,
and a value.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from xlagraph.graph.engine import Cell
from xlagraph.graph.row_cells import Node, Relationship
from xlagraph.graph.schema import SCHEMA
from xlagraph.graph.schema_types import caption_property
from xlagraph.presentation.byte_sizes import counts_bytes, human_bytes

FIELD: Final = re.compile(r"\{(\w+)\}")
"""A property in the text of a caption, `{sizeBytes}`."""


@dataclass(frozen=True, slots=True)
class NodeStyle:
    """The look of the nodes of a label; captions are strings with `{property}` in them."""

    label: str
    name: str
    """Text that distinguishes the node within its compilation."""
    details: tuple[str, ...]
    """Further lines of the caption; a line is omitted if a property of it is absent."""
    color: str
    diameter: int
    """Size in pixels."""
    has_light_text: bool = False


@dataclass(frozen=True, slots=True)
class EdgeStyle:
    """The look of the relationships of a type."""

    type: str
    caption: str
    color: str = "#8A8F98"
    width: int = 1
    """Size in pixels."""


_BLUE, _SKY, _GREEN = "#0072B2", "#56B4E9", "#009E73"
_ORANGE, _YELLOW, _VERMILION, _PURPLE = "#E69F00", "#F0E442", "#D55E00", "#CC79A7"
_DARK = "#4A4F57"
PLAIN_COLOR: Final = "#B0B5BD"
"""Default colour."""

NODE_STYLES: Final[Mapping[str, NodeStyle]] = MappingProxyType(
    {
        style.label: style
        for style in (
            NodeStyle("Run", "{name}", (), _DARK, 120, has_light_text=True),
            NodeStyle("Module", "{name}", (), PLAIN_COLOR, 100),
            NodeStyle(
                "Compilation", "{key}", ("{reservedBytes}",), _DARK, 110, has_light_text=True
            ),
            NodeStyle(
                "MemorySpace",
                "memory space {color}",
                ("{name}", "{physicalPeakBytes}"),
                _PURPLE,
                110,
            ),
            NodeStyle("MemoryStatistic", "{field}", ("{statedBytes}",), PLAIN_COLOR, 80),
            NodeStyle("PackedModule", "module as {form}", (), PLAIN_COLOR, 60),
            NodeStyle(
                "Allocation",
                "allocation {number}",
                ("{sizeBytes}", "{role}"),
                _GREEN,
                100,
                has_light_text=True,
            ),
            NodeStyle(
                "Value",
                "{label}",
                ("{sizeBytes}", "{category}", "steps {liveFrom}–{liveUntil}"),
                _BLUE,
                90,
                has_light_text=True,
            ),
            NodeStyle("Instruction", "{name}", ("{opcode}",), _SKY, 70),
            NodeStyle("Op", "{name}", (), _YELLOW, 80),
            NodeStyle("Scope", "{name}", (), _YELLOW, 90),
            NodeStyle("SourceLine", "{file}:{line}", (), _ORANGE, 90),
            NodeStyle("Frame", "{function} {file}:{line}", (), _VERMILION, 90, has_light_text=True),
        )
    }
)
EDGE_STYLES: Final[Mapping[str, EdgeStyle]] = MappingProxyType(
    {
        style.type: style
        for style in (
            EdgeStyle("UPDATES_IN_PLACE", "overwrites {sharedBytes}", _VERMILION, 3),
            EdgeStyle("REUSES", "reuses {sharedBytes}", _GREEN, 3),
            EdgeStyle("LIVE_AT_PEAK", "{physicalBytes}", _PURPLE, 2),
            EdgeStyle("IN_PRINTED_PEAK", "printed {printedBytes}"),
            EdgeStyle("HOLDS", "at byte {offsetBytes}", _GREEN),
            EdgeStyle("DEFINES", "makes", _BLUE),
            EdgeStyle("USED_BY", "read by"),
            EdgeStyle("FROM_LINE", "", _ORANGE),
            EdgeStyle("ATTRIBUTED_LINE", "", _ORANGE),
            EdgeStyle("CALLED_FROM", "called from", _VERMILION),
        )
    }
)


def node_name(node: Node) -> str:
    """Return the text that distinguishes a node within its compilation."""
    style = NODE_STYLES.get(node.label)
    return (style and _filled(style.name, node)) or node.key


def node_caption(node: Node) -> tuple[str, ...]:
    """Return the caption lines of a node, its name first."""
    style = NODE_STYLES.get(node.label)
    details = [_filled(detail, node) for detail in style.details] if style else []
    return (node_name(node), *filter(None, details))


def edge_caption(edge: Relationship) -> str:
    """Return the caption of an edge."""
    style = EDGE_STYLES.get(edge.type)
    return edge.type if style is None else _filled(style.caption, edge) or ""


def shows_unit(field: str) -> bool:
    """Return True if a property is a byte count shown with a unit; offsets are shown exactly."""
    return counts_bytes(field) and field != "offsetBytes"


def _filled(text: str, properties: Mapping[str, Cell]) -> str | None:
    """Return a template filled with properties; None if one is absent."""
    if any(properties.get(field) is None for field in FIELD.findall(text)):
        return None
    return FIELD.sub(lambda match: _text(match[1], properties[match[1]]), text)


def _text(field: str, cell: Cell) -> str:
    if isinstance(cell, int) and shows_unit(field):
        return human_bytes(cell)
    return str(cell)


def _check_fields() -> None:
    properties = {
        node.label: {property_.name for property_ in node.properties} for node in SCHEMA.nodes
    }
    properties |= {
        relationship.name: {property_.name for property_ in relationship.properties}
        for relationship in SCHEMA.relationships
    }
    named = {style.label: (style.name, *style.details) for style in NODE_STYLES.values()}
    named |= {style.type: (style.caption,) for style in EDGE_STYLES.values()}
    for owner, texts in named.items():
        fields = FIELD.findall(" ".join(texts))
        # a program that writes no units uses the text of a byte count
        fields += [caption_property(field) for field in fields if shows_unit(field)]
        if unknown := sorted(set(fields) - properties.get(owner, set())):
            raise ValueError(f"the schema has no property {unknown[0]} of {owner}")


_check_fields()
