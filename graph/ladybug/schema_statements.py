"""Statements of the embedded engine that follow from the schema: tables, COPY, deletions.

COPY and LOAD FROM take the names of files in their text; everything else is a parameter.
"""

import glob
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from xlagraph.graph.schema import SCHEMA
from xlagraph.graph.schema_statements import is_unused
from xlagraph.graph.schema_types import NodeType, Property, PropertyType, RelationshipType

_COLUMN_TYPES: Final[Mapping[PropertyType, str]] = {
    PropertyType.STRING: "STRING",
    PropertyType.INTEGER: "INT64",
    PropertyType.BOOLEAN: "BOOLEAN",
    PropertyType.STRING_LIST: "STRING[]",
}


def create_tables() -> list[str]:
    """Return the statements that create a table for each label and relationship type."""
    nodes = [
        f"CREATE NODE TABLE `{node.label}`({_columns(node.properties)}, PRIMARY KEY(`key`))"
        for node in SCHEMA.nodes
    ]
    relationships = [
        f"CREATE REL TABLE `{relationship.name}`("
        + ", ".join(
            [
                f"FROM `{relationship.source}` TO `{relationship.target}`",
                *([_columns(relationship.properties)] if relationship.properties else []),
            ]
        )
        + ")"
        for relationship in SCHEMA.relationships
    ]
    return nodes + relationships


def _columns(properties: Sequence[Property]) -> str:
    return ", ".join(
        f"`{property_.name}` {_COLUMN_TYPES[property_.type]}" for property_ in properties
    )


def copy_rows(table: str, files: Iterable[Path]) -> str:
    """Return the statement that adds the rows of some files to a table, all in one COPY."""
    return f"COPY `{table}` FROM {_quoted(files)}"


def create_nodes(node: NodeType, files: Iterable[Path]) -> str:
    """Return the statement that adds the rows of some files one by one."""
    return f"LOAD FROM {_quoted(files)} CREATE (:{node.label} {_map(node.properties)})"


def create_relationships(relationship: RelationshipType, files: Iterable[Path]) -> str:
    """Return the statement that adds the rows of some files one by one."""
    return (
        f"LOAD FROM {_quoted(files)} "
        f"MATCH (a:{relationship.source} {{key: source}}) "
        f"MATCH (b:{relationship.target} {{key: target}}) "
        f"CREATE (a)-[:{relationship.name} {_map(relationship.properties)}]->(b)"
    )


def _map(properties: Sequence[Property]) -> str:
    """Return a map of properties from columns of their names."""
    return "{" + ", ".join(f"{each.name}: {each.name}" for each in properties) + "}"


def write_nodes(node: NodeType, file: Path) -> str:
    """Return the statement that writes the nodes of a label into a new file, as COPY reads them."""
    cells = ", ".join(f"n.{property_.name} AS {property_.name}" for property_ in node.properties)
    return f"COPY (MATCH (n:{node.label}) RETURN {cells}) TO {_quoted_text(str(file))}"


def write_relationships(relationship: RelationshipType, file: Path) -> str:
    """Return the statement that writes the relationships of a type into a new file."""
    names = [property_.name for property_ in relationship.properties]
    cells = ["a.key AS source", "b.key AS target", *(f"r.{name} AS {name}" for name in names)]
    return (
        f"COPY (MATCH (a:{relationship.source})-[r:{relationship.name}]->(b:{relationship.target})"
        f" RETURN {', '.join(cells)}) TO {_quoted_text(str(file))}"
    )


def _quoted(files: Iterable[Path]) -> str:
    # the engine reads each path as a glob pattern
    return "[" + ", ".join(_quoted_text(glob.escape(str(path))) for path in files) + "]"


def _quoted_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def count_nodes(label: str) -> str:
    """Return the statement that counts the nodes of a label."""
    return f"MATCH (n:{label}) RETURN count(*) AS nodes"


def count_relationships(name: str) -> str:
    """Return the statement that counts the relationships of a type."""
    return f"MATCH ()-[r:{name}]->() RETURN count(*) AS relationships"


def set_run(names: Iterable[str], *, create: bool) -> str:
    """Return the statement that sets properties of the run `$key` from parameters of their names.

    A missing run is created or ignored.
    """
    assignments = ", ".join(f"n.{name} = ${name}" for name in names)
    return f"{'MERGE' if create else 'MATCH'} (n:Run {{key: $key}}) SET {assignments}"


def stored_keys(label: str) -> str:
    """Return the statement that returns which of the `$keys` a label has."""
    return f"UNWIND $keys AS wanted MATCH (n:{label} {{key: wanted}}) RETURN n.key AS key"


def delete_parts(node: NodeType) -> str:
    """Return the statement that deletes the parts of the compilations `$keys`."""
    # a scan reads the table once for all keys, and finds every part
    return (
        f"UNWIND $keys AS stale MATCH (n:{node.label}) WHERE n.compilation = stale DETACH DELETE n"
    )


def count_unused(label: str) -> str:
    """Return the statement that counts the unused shared nodes."""
    return f"MATCH (n:{label}) WHERE {is_unused(label)} RETURN count(*) AS nodes"


def delete_unused(label: str) -> str:
    """Return the statement that deletes the unused shared nodes."""
    return f"MATCH (n:{label}) WHERE {is_unused(label)} DETACH DELETE n"
