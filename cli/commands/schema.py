"""`xlagraph schema`: the labels, relationship types and properties of the graph."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Final

import typer

from xlagraph.cli.output.destination import write_rows
from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.shared_options import ListOptions

if TYPE_CHECKING:
    from xlagraph.graph.schema_types import NodeType, RelationshipType

ALL_COLUMNS: Final = ("kind", "name", "pattern", "properties", "description")
ONE_COLUMNS: Final = ("kind", "name", "type", "description")


def schema(
    options: ListOptions,
    label: Annotated[
        str | None,
        typer.Argument(metavar="LABEL", help="A label or relationship type; all by default."),
    ] = None,
) -> None:
    """List labels and relationship types, or describe one.

    Example: xlagraph schema Value
    """
    from xlagraph.graph import SCHEMA

    nodes = {node.label: node for node in SCHEMA.nodes}
    relationships = {relationship.name: relationship for relationship in SCHEMA.relationships}
    if label is None:
        rows = [
            ("node", node.label, f"(:{node.label})", len(node.properties), node.description)
            for node in SCHEMA.nodes
        ]
        rows += [
            (
                "relationship",
                relationship.name,
                _pattern(relationship),
                len(relationship.properties),
                relationship.description,
            )
            for relationship in SCHEMA.relationships
        ]
        write_rows(ALL_COLUMNS, rows, options)
    elif label in nodes or label in relationships:
        declared_type = nodes.get(label) or relationships[label]
        write_rows(ONE_COLUMNS, list(_rows(declared_type, SCHEMA.relationships)), options)
    else:
        raise UsageError(_unknown(label, [*nodes, *relationships]))


def _rows(
    declared_type: "NodeType | RelationshipType", relationships: "tuple[RelationshipType, ...]"
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the properties of a type and, for a label, its relationships."""
    for property_ in declared_type.properties:
        yield "property", property_.name, property_.type, property_.description
    for relationship in relationships:
        if relationship is declared_type or getattr(declared_type, "label", None) in (
            relationship.source,
            relationship.target,
        ):
            kind, name = "relationship", relationship.name
            yield kind, name, _pattern(relationship), relationship.description


def _pattern(relationship: "RelationshipType") -> str:
    return f"(:{relationship.source})-[:{relationship.name}]->(:{relationship.target})"


def _unknown(label: str, names: list[str]) -> str:
    spelling = {name.lower(): name for name in names}
    near = [spelling[name] for name in get_close_matches(label.lower(), spelling, n=3)]
    remedy = f"did you mean {' or '.join(near)}?" if near else "`xlagraph schema` lists them"
    return f"the graph has no label or relationship type {label}; {remedy}"
