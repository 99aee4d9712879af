"""The nodes and edges of a picture, from the paths that a query returns."""

from collections.abc import Iterator
from dataclasses import dataclass

from xlagraph.graph.engine import Cell, Result
from xlagraph.graph.row_cells import Node, Path, Relationship
from xlagraph.graph.schema_types import caption_property
from xlagraph.graph.styles import node_name
from xlagraph.presentation.byte_sizes import counts_bytes

__all__ = ["Picture", "picture_of"]


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
