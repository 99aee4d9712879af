"""schema.md: labels, relationship types and properties."""

from collections.abc import Iterable, Iterator
from typing import Final

from pages.markdown import page, table
from xlagraph.graph.schema import SCHEMA, VERSION
from xlagraph.graph.schema_types import Property


def schema_page() -> str:
    """Describe every label, relationship type and property."""
    lines = [
        "# The graph",
        "",
        "![Labels and relationship types](schema.svg)",
        "",
        _ABOUT_SCHEMA,
        "",
        _ABOUT_LABELS,
        "",
        "## Labels",
        "",
    ]
    for node in SCHEMA.nodes:
        shared = " Shared." if node.is_shared else ""
        lines += [f"### {node.label}", "", f"{_sentence(node.description)}{shared}", ""]
        lines += _properties(node.properties)
    lines += ["## Relationship types", ""]
    for relationship in SCHEMA.relationships:
        ends = f"`(:{relationship.source})-[:{relationship.name}]->(:{relationship.target})`"
        lines += [f"### {relationship.name}", "", f"{ends}: {relationship.description}.", ""]
        if relationship.properties:
            lines += _properties(relationship.properties)
    return page("graph/schema.py", lines)


_ABOUT_SCHEMA: Final = f"""\
Schema version {VERSION}. Every node has a unique `key`. A property is absent, never 0 or empty,
where the dump does not tell. Bytes and steps are integers; steps count from 0, both ends of a
live range are inclusive."""
_ABOUT_LABELS: Final = """\
Green labels are shared: their nodes belong to all compilations that use them, and go with the
last one. Blue ones belong to one compilation, and carry its key. [Measures](measures.md)
defines the byte counts, in place and reuse."""


def _properties(properties: Iterable[Property]) -> Iterator[str]:
    rows = (
        (f"`{property_.name}`", property_.type.lower(), property_.description)
        for property_ in properties
    )
    return table(("property", "type", "is"), rows)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
