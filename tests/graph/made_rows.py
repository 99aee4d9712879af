"""Compilations made directly as rows, without a dump or a plan."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from xlagraph.graph.row_tables import NODE_COLUMNS, RELATIONSHIP_COLUMNS, CompilationRows
from xlagraph.graph.schema import SCHEMA, VERSION


def table(schema, rows: Sequence[Mapping[str, object]]):
    unknown = {name for row in rows for name in row} - set(schema.names)
    assert not unknown, f"not in the schema: {unknown}"
    return pa.table(
        {
            name: pa.array([row.get(name) for row in rows], schema.field(name).type)
            for name in schema.names
        },
        schema=schema,
    )


def rows_from(
    nodes: Mapping[str, Sequence[Mapping[str, object]]],
    relationships: Mapping[str, Sequence[Mapping[str, Any]]],
) -> CompilationRows:
    """Make rows; the ends of relationships are given as row numbers of nodes."""

    def keyed(name: str) -> list[Mapping[str, object]]:
        kind = SCHEMA.relationship(name)
        return [
            {
                **row,
                "source": nodes[kind.source][row["source"]]["key"],
                "target": nodes[kind.target][row["target"]]["key"],
            }
            for row in relationships.get(name, ())
        ]

    return CompilationRows(
        {label: table(schema, nodes.get(label, ())) for label, schema in NODE_COLUMNS.items()},
        {name: table(schema, keyed(name)) for name, schema in RELATIONSHIP_COLUMNS.items()},
    )


def made_rows(
    run: str = "baseline",
    stem: str = "module_0001.jit_step",
    *,
    values: int = 4,
    op: str = "jit(step)/layer_0/dot",
    sha256: str | None = None,
    size: int = 64,
    tags: Sequence[str] | None = ("commit=abc",),
    ingested_at: str | None = None,
) -> CompilationRows:
    """Return a compilation: a value for each instruction, used by the next, reused after two."""
    key = f"{run}/{stem}"
    part = {"compilation": key}
    places = range(values)
    scopes = [op[:place] for place, sign in enumerate(op) if sign == "/"]
    return rows_from(
        {
            "Run": [
                {
                    "key": run,
                    "name": run,
                    "path": f"/dumps/{run}",
                    "tags": tags,
                    "ingestedAt": ingested_at,
                    "schemaVersion": VERSION,
                }
            ],
            "Module": [{"key": stem, "name": stem}],
            "Compilation": [
                {
                    "key": key,
                    "run": run,
                    "name": stem,
                    "moduleName": stem,
                    "valueCount": values,
                    "reservedBytes": size * values,
                    "sha256": sha256,
                    "state": "complete",
                }
            ],
            "MemorySpace": [{"key": f"{key}#m/0", **part, "color": 0}],
            "Allocation": [
                {
                    "key": f"{key}#a/0",
                    **part,
                    "number": 0,
                    "sizeBytes": size * values,
                    "role": "temp",
                    "maybeLiveOut": False,
                }
            ],
            "Value": [
                {
                    "key": f"{key}#v/{i}",
                    **part,
                    "valueId": i,
                    "name": f"fusion.{i}",
                    "label": f"fusion.{i}",
                    "sizeBytes": size,
                    "opName": op if i % 2 else None,
                }
                for i in places
            ],
            "Instruction": [
                {
                    "key": f"{key}#i/fusion.{i}",
                    **part,
                    "name": f"fusion.{i}",
                    "step": i,
                    "text": f"fusion.{i} = f32[] \"'`\n$x é",
                }
                for i in places
            ],
            "Op": [{"key": op, "name": op}],
            "Scope": [
                {"key": scope, "name": scope, "depth": depth}
                for depth, scope in enumerate(scopes, 1)
            ],
            "SourceLine": [{"key": "train.py:7", "file": "train.py", "line": 7}],
            "Frame": [
                {"key": f"{op}@train.py:7", "function": "step", "file": "train.py", "line": 7},
                {"key": "main@train.py:1", "function": "main", "file": "train.py", "line": 1},
            ],
        },
        {
            "COMPILED": [{"source": 0, "target": 0}],
            "OF_MODULE": [{"source": 0, "target": 0}],
            "USES_SPACE": [{"source": 0, "target": 0}],
            "ALLOCATES": [{"source": 0, "target": 0}],
            "HOLDS": [
                {"source": 0, "target": i, "offsetBytes": size * i, "sizeBytes": size}
                for i in places
            ],
            "USED_BY": [{"source": i, "target": i + 1, "operand": 0} for i in places[:-1]]
            + [{"source": 0, "target": values - 1, "operand": 1, "operandIndex": "{1}"}],
            "DEFINES": [{"source": i, "target": i} for i in places],
            "APPEARS_AT": [{"source": i, "target": i, "shapeIndex": "{}"} for i in places],
            "LIVE_FROM": [{"source": i, "target": i, "step": i} for i in places],
            "SCHEDULES": [{"source": 0, "target": i, "step": i} for i in places],
            "NEXT": [{"source": i, "target": i + 1} for i in places[:-1]],
            "LIVE_AT_PEAK": [{"source": i, "target": 0, "physicalBytes": size} for i in places],
            "IN_PRINTED_PEAK": [
                {"source": 0, "target": 0, "printedBytes": size, "rank": 0, "ambiguous": True}
            ],
            "REUSES": [
                {"source": i + 2, "target": i, "sharedBytes": 8, "gapSteps": 1} for i in places[:-2]
            ],
            "FROM_OP": [{"source": i, "target": 0} for i in places[1::2]],
            "FROM_LINE": [{"source": i, "target": 0} for i in places],
            "IN_FRAME": [{"source": 0, "target": 0}],
            "WITHIN": [{"source": 0, "target": place} for place in range(len(scopes))],
            "CALLED_FROM": [{"source": 0, "target": 1}],
        },
    )


def facts(rows: CompilationRows, *, without: Sequence[str] = ("state",)) -> dict[str, list[str]]:
    """Return rows independent of their order and row numbers; duplicates stay visible."""
    nodes = {
        label: sorted(
            repr({name: value for name, value in row.items() if name not in without})
            for row in columns.to_pylist()
        )
        for label, columns in rows.nodes.items()
    }
    relationships = {
        name: sorted(repr((row.pop("source"), row.pop("target"), row)) for row in table.to_pylist())
        for name, table in rows.relationships.items()
    }
    return nodes | relationships


def untimed(cell):
    """Return a cell without what differs: when something was ingested, and lists of nothing.

    The importer drops an empty list of tags; queries read both alike.
    """
    if isinstance(cell, dict):
        return {
            name: untimed(inner)
            for name, inner in cell.items()
            if name != "ingestedAt" and inner != []
        }
    return [untimed(inner) for inner in cell] if isinstance(cell, list | tuple) else cell
