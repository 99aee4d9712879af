"""Nodes, relationships and paths as rows hold them: mappings of their properties."""

from collections.abc import Mapping, Sequence

from xlagraph.graph.engine import Cell

__all__ = ["Node", "Path", "Relationship"]


class Node(dict[str, Cell]):
    """The properties of a node, and its label."""

    def __init__(self, label: str, properties: Mapping[str, Cell]) -> None:
        super().__init__(properties)
        self.label = label

    @property
    def key(self) -> str:
        """What no other node of its label has."""
        return str(self["key"])


class Relationship(dict[str, Cell]):
    """The properties of a relationship, its type, and the nodes at its ends."""

    def __init__(
        self, type_: str, properties: Mapping[str, Cell], source: Node, target: Node
    ) -> None:
        super().__init__(properties)
        self.type = type_
        self.source = source
        self.target = target


class Path(dict[str, Cell]):
    """A path: `nodes` in the order of the walk, and the `relationships` between them."""

    def __init__(self, nodes: Sequence[Node], relationships: Sequence[Relationship]) -> None:
        super().__init__(nodes=nodes, relationships=relationships)
        self.nodes = nodes
        self.relationships = relationships
