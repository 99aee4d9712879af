"""Cells of rows: nodes, relationships and paths as mappings, and values that JSON does not have."""

import math
from collections.abc import Mapping, Sequence

from xlagraph.graph.engine import Cell


class Node(dict[str, Cell]):
    """A node's properties, and its label."""

    def __init__(self, label: str, properties: Mapping[str, Cell]) -> None:
        super().__init__(properties)
        self.label = label

    @property
    def key(self) -> str:
        """The key, unique among the nodes of its label."""
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


def without_nan(cell: Cell) -> Cell:
    """Return a cell with null for each NaN and infinity, also inside lists and mappings.

    JSON cannot represent them.
    """
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if cell is None or isinstance(cell, str | int):
        return cell
    if isinstance(cell, Mapping):
        return {name: without_nan(value) for name, value in cell.items()}
    return [without_nan(element) for element in cell]
