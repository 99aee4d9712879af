"""Reads compilations back from a graph, in statements that both engines understand.

Every statement follows from the schema and starts at keys. Parts are found from their compilation,
and shared nodes from the parts; never the other way, which would reach other compilations. The time
therefore depends on what is read, and not on the graph's size.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, cast

import pyarrow as pa

from xlagraph.graph.engine import Cell, CompilationDigest, Result, StoredRun
from xlagraph.graph.errors import NameUnknown
from xlagraph.graph.row_tables import NODE_COLUMNS, RELATIONSHIP_COLUMNS, CompilationRows
from xlagraph.graph.schema import SCHEMA
from xlagraph.graph.schema_statements import look_up_nodes, walk_relationship
from xlagraph.graph.schema_types import NodeType, RelationshipType
from xlagraph.graph.statement_files import load_statement

Query = Callable[[str, Mapping[str, Cell]], Result]
Row = tuple[Cell, ...]

# Parts before shared nodes; a relationship ends at the same label or at a later one.
_LABELS: Final = tuple(node.label for node in sorted(SCHEMA.nodes, key=lambda node: node.is_shared))


_STORED_RUNS: Final = load_statement(__file__, "stored-runs")

# Keys in one statement: a server keeps all of them in memory, with the rows that they find.
_KEYS_AT_ONCE: Final = 20_000


def read_compilation(query: Query, compilation: str) -> CompilationRows:
    """Return the rows of a complete compilation; NameUnknown if there is none."""
    return read_compilations(query, [compilation])


def read_compilations(query: Query, compilations: Collection[str]) -> CompilationRows:
    """Return the rows of complete compilations, in the order of the keys.

    Raises NameUnknown if one does not exist.
    """
    keys, relationships = _walk(query, compilations)
    nodes = {
        node.label: _table(
            NODE_COLUMNS[node.label], _found(query, look_up_nodes(node), keys[node.label])
        ).sort_by([(name, "ascending") for name in _sorted_by(node)])
        for node in SCHEMA.nodes
    }
    states = {row["key"]: row["state"] for row in nodes["Compilation"].to_pylist()}
    for compilation in compilations:
        if states.get(compilation) != "complete":
            raise NameUnknown(f"no compilation {compilation} in the graph")
    return CompilationRows(
        nodes,
        {
            name: _table(columns, relationships[name])
            for name, columns in RELATIONSHIP_COLUMNS.items()
        },
    )


def read_stored_runs(query: Query, names: Collection[str]) -> dict[str, StoredRun]:
    """Return the stored runs of these names, in the order of their keys."""
    if not names:  # the embedded engine rejects an empty list
        return {}
    rows = query(_STORED_RUNS, {"runs": sorted(names)}).rows
    runs: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {}
    compilations: dict[str, dict[str, CompilationDigest]] = {}
    for run, path, tags, snapshots, key, folder, sha256, total_bytes, summed_bytes, detail in rows:
        lists = (tuple(cast("Sequence[str]", each or ())) for each in (tags, snapshots))
        runs.setdefault(str(run), (str(path), next(lists), next(lists)))
        compilations.setdefault(str(run), {})[str(key)] = CompilationDigest(
            str(folder),
            str(sha256),
            cast("int | None", total_bytes),
            cast("int", summed_bytes),
            str(detail),
        )
    return {run: StoredRun(*facts, compilations[run]) for run, facts in runs.items()}


def _sorted_by(node: NodeType) -> tuple[str, ...]:
    return ("compilation", "key") if node.is_part else ("key",)


def _walk(
    query: Query, compilations: Collection[str]
) -> tuple[dict[str, set[str]], dict[str, list[Row]]]:
    """Find the keys of all nodes by label, and all relationships by type."""
    keys: dict[str, set[str]] = {label: set() for label in _LABELS}
    keys["Compilation"].update(compilations)
    relationships: dict[str, list[Row]] = {
        relationship.name: [] for relationship in SCHEMA.relationships
    }
    for label in _LABELS:
        walked: set[str] = set()
        while fresh := keys[label] - walked:
            for relationship in SCHEMA.relationships:
                if _nearer_label(relationship) == label:
                    found = _found(query, walk_relationship(relationship, label), fresh)
                    relationships[relationship.name] += found
                    keys[relationship.source].update(str(row[0]) for row in found)
                    keys[relationship.target].update(str(row[1]) for row in found)
            walked |= fresh
    return keys, relationships


def _nearer_label(relationship: RelationshipType) -> str:
    """Return the label of the end that a walk reaches first."""
    return min(relationship.source, relationship.target, key=_LABELS.index)


def _found(query: Query, text: str, keys: Collection[str]) -> list[Row]:
    """Return a statement's rows for all keys."""
    wanted = sorted(keys)
    return [
        row
        for start in range(0, len(wanted), _KEYS_AT_ONCE)
        for row in query(text, {"keys": wanted[start : start + _KEYS_AT_ONCE]}).rows
    ]


def _table(columns: pa.Schema, rows: Sequence[Row]) -> pa.Table:
    cells = zip(*rows, strict=True) if rows else [()] * len(columns)
    return pa.table(
        [pa.array(list(column), field.type) for column, field in zip(cells, columns, strict=True)],
        schema=columns,
    )
