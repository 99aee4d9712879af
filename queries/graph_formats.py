"""Pictures of the paths that a query returns, and their text: Graphviz's dot, Mermaid, GraphML."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from xlagraph.graph.engine import Cell, Result
from xlagraph.graph.row_cells import Node, Path, Relationship
from xlagraph.graph.schema_types import caption_property
from xlagraph.graph.styles import (
    EDGE_STYLES,
    NODE_STYLES,
    PLAIN_COLOR,
    edge_caption,
    node_caption,
    node_name,
)
from xlagraph.presentation.byte_sizes import counts_bytes


@dataclass(frozen=True, slots=True)
class Picture:
    """Nodes and edges to draw, without repetitions, in the order of the rows."""

    nodes: tuple[Node, ...]
    edges: tuple[Relationship, ...]

    def edge_table(self) -> Result:
        """Return a row for each edge, then one for each node that has none.

        After the ends and the type there is a column for each property of the edges, but for
        the strings of byte counts.
        """
        named = dict.fromkeys(property_ for edge in self.edges for property_ in edge)
        texts = {caption_property(property_) for property_ in named if counts_bytes(property_)}
        properties = [property_ for property_ in named if property_ not in texts]
        rows: list[tuple[Cell, ...]] = [
            (
                *(edge.source.label, node_name(edge.source), edge.type),
                *(edge.target.label, node_name(edge.target)),
                *(edge.get(property_) for property_ in properties),
            )
            for edge in self.edges
        ]
        connected = {
            (end.label, end.key) for edge in self.edges for end in (edge.source, edge.target)
        }
        rows += [
            (node.label, node_name(node), *(None for _ in range(3 + len(properties))))
            for node in self.nodes
            if (node.label, node.key) not in connected
        ]
        columns = ("sourceLabel", "source", "relationship", "targetLabel", "target")
        return Result((*columns, *properties), tuple(rows))


def picture_of(result: Result) -> Picture:
    """Return the picture of all paths in the rows."""
    nodes: dict[tuple[str, str], Node] = {}
    edges: dict[tuple[object, ...], Relationship] = {}
    for path in _paths(result):
        for node in path.nodes:
            nodes.setdefault((node.label, node.key), node)
        for edge in path.relationships:
            # a value may read another through several operands: those edges differ
            what = tuple(sorted(edge.items()))
            edges.setdefault((edge.type, edge.source.key, edge.target.key, what), edge)
    return Picture(tuple(nodes.values()), tuple(edges.values()))


def _paths(result: Result) -> Iterator[Path]:
    for row in result.rows:
        yield from (cell for cell in row if isinstance(cell, Path))


# characters that XML 1.0 does not allow
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def dot(picture: Picture) -> str:
    """Return a picture in Graphviz's dot language."""
    numbers = _numbers(picture)
    lines = [
        "digraph {",
        "  rankdir=LR",
        '  node [shape=box style="rounded,filled" penwidth=0 fontname="sans-serif" fontsize=11]',
        '  edge [fontname="sans-serif" fontsize=9]',
    ]
    for node in picture.nodes:
        style = NODE_STYLES.get(node.label)
        fill = style.color if style else PLAIN_COLOR
        text = "white" if style and style.has_light_text else "black"
        label = _dot_text("\n".join(node_caption(node)))
        lines.append(f'  n{numbers[_id(node)]} [label={label} fillcolor="{fill}" fontcolor={text}]')
    for edge in picture.edges:
        ends = f"n{numbers[_id(edge.source)]} -> n{numbers[_id(edge.target)]}"
        edge_style = EDGE_STYLES.get(edge.type)
        look = f' color="{edge_style.color}" penwidth={edge_style.width}' if edge_style else ""
        lines.append(f"  {ends} [label={_dot_text(edge_caption(edge))}{look}]")
    return "\n".join((*lines, "}")) + "\n"


def mermaid(picture: Picture) -> str:
    """Return a picture as a Mermaid flowchart, which Markdown pages draw."""
    numbers = _numbers(picture)
    lines = ["flowchart LR"]
    for node in picture.nodes:
        text = "<br/>".join(map(_mermaid_text, node_caption(node)))
        lines.append(f'  n{numbers[_id(node)]}["{text}"]:::{node.label}')
    for edge in picture.edges:
        text = _mermaid_text(edge_caption(edge))
        arrow = f'-- "{text}" -->' if text else "-->"
        lines.append(f"  n{numbers[_id(edge.source)]} {arrow} n{numbers[_id(edge.target)]}")
    for label in dict.fromkeys(node.label for node in picture.nodes):
        style = NODE_STYLES.get(label)
        fill = style.color if style else PLAIN_COLOR
        text = "#fff" if style and style.has_light_text else "#000"
        lines.append(f"  classDef {label} fill:{fill},color:{text},stroke:{fill}")
    return "\n".join(lines) + "\n"


def graphml(picture: Picture) -> str:
    """Return a picture as GraphML, with all properties of its nodes and edges.

    The label of a node and the type of an edge are attributes of these names; the caption of a
    node is `caption`.
    """
    numbers = _numbers(picture)
    root = Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    graph = Element("graph", edgedefault="directed")
    keys = _Keys(root)
    for node in picture.nodes:
        data = {"nodeLabel": node.label, "caption": "\n".join(node_caption(node)), **node}
        keys.add(SubElement(graph, "node", id=f"n{numbers[_id(node)]}"), data)
    for edge in picture.edges:
        ends = {"source": numbers[_id(edge.source)], "target": numbers[_id(edge.target)]}
        drawn = SubElement(graph, "edge", {end: f"n{number}" for end, number in ends.items()})
        keys.add(drawn, {"relationshipType": edge.type, **edge})
    root.append(graph)
    indent(root)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{tostring(root, encoding='unicode')}\n"


class _Keys:
    """The attributes that a GraphML file declares, added on first use."""

    def __init__(self, root: Element) -> None:
        self._root = root
        self._ids: dict[tuple[str, str], str] = {}

    def add(self, element: Element, data: Mapping[str, Cell]) -> None:
        for name, cell in data.items():
            if (element.tag, name) not in self._ids:
                key = f"k{len(self._ids)}"
                self._ids[element.tag, name] = key
                declared = {"id": key, "for": element.tag, "attr.name": name}
                SubElement(self._root, "key", {**declared, "attr.type": _graphml_type(cell)})
            text = json.dumps(cell) if isinstance(cell, bool | int) else str(cell)
            SubElement(element, "data", key=self._ids[element.tag, name]).text = _NOT_XML.sub(
                "�", text
            )


def _graphml_type(cell: Cell) -> str:
    if isinstance(cell, bool):
        return "boolean"
    return "long" if isinstance(cell, int) else "string"


def _numbers(picture: Picture) -> Mapping[tuple[str, str], int]:
    return {_id(node): number for number, node in enumerate(picture.nodes)}


def _id(node: Node) -> tuple[str, str]:
    return node.label, node.key


def _dot_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{_NOT_XML.sub("�", escaped)}"'


def _mermaid_text(text: str) -> str:
    """Escape every character that Mermaid or HTML interprets."""
    return "".join(
        sign if sign.isalnum() or sign in " ._-/:–,+=()" else f"#{ord(sign)};" for sign in text
    )
