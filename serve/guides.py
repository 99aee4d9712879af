"""Prompts and resources for assistants, in addition to the tools."""

from collections.abc import Iterator
from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

from xlagraph.graph import SCHEMA
from xlagraph.serve.readers.jobs import Catalogue


def add_guides(server: MCPServer, catalogue: Catalogue) -> None:
    """Add the prompts and resources to a server."""

    @server.prompt(title="Explain the peak of a compilation")
    def explain_peak(
        compilation: Annotated[
            str, Field(description="key of a compilation, a unique part of it, or a run")
        ],
    ) -> str:
        """Find what holds a program's memory, and what to change."""
        return (
            f"Explain why {compilation} needs its memory. Call advise for it, then run_query with"
            " peak/contributors and peak/by-caller, and value for the largest one. Name source"
            " lines, bytes and what to change, sorted by savings, descending."
        )

    @server.prompt(title="Explain what grew between two runs")
    def explain_growth(
        before: Annotated[str, Field(description="a run or compilation")],
        after: Annotated[str, Field(description="the run or compilation to compare with it")],
    ) -> str:
        """Find the cause of more memory than before."""
        return (
            f"Explain why {after} needs more or less memory than {before}. Call compare, then"
            " run_query with compare/callers and compare/values. Name the source lines whose bytes"
            " changed, and what probably caused it."
        )

    @server.resource("xlagraph://schema", title="Schema of the graph", mime_type="text/plain")
    def schema() -> str:
        """Labels, relationships and their properties, for Cypher statements."""
        return "\n".join(_schema_lines())

    @server.resource("xlagraph://queries", title="Canned queries", mime_type="text/plain")
    def queries() -> str:
        """Ids of the canned queries, and the question that each answers."""
        return "\n".join(f"{query.id}: {query.answers}" for query in catalogue.values())


def _schema_lines() -> Iterator[str]:
    for node in SCHEMA.nodes:
        yield f"(:{node.label}) {node.description}"
        for property_ in node.properties:
            yield f"  .{property_.name} {property_.type}: {property_.description}"
    for relationship in SCHEMA.relationships:
        ends = f"(:{relationship.source})-[:{relationship.name}]->(:{relationship.target})"
        yield f"{ends} {relationship.description}"
        for property_ in relationship.properties:
            yield f"  .{property_.name} {property_.type}: {property_.description}"
