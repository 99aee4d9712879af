"""Dumps of one value, and the outcome of ingesting them."""

import gzip
from collections.abc import Callable
from pathlib import Path

from tests.tiny_dumps import tiny_dump
from xlagraph.graph import Graph
from xlagraph.ingest import IngestSummary

Write = Callable[..., Path]

BLANK_LINES = "\n" * 2**20
"""Bytes that make a dump large enough to be prepared separately."""

CUT_GZIP = gzip.compress(b"BufferAssignment:\n" * 99, mtime=0)[:-9]


def dump_text(size: int = 16, *, total: int | None = None) -> str:
    """Write a complete dump of one value that is live in one step."""
    return tiny_dump(
        f"0 | {size} | output shape is |f32[4]|, maybe-live-out",
        f"0 | add | f32[4]{{0}} | 0 | {size} | 0-1 | constant({{1, 2, 3, 4}})",
        total=total,
    )


def name(number: int, module: str = "f") -> str:
    return f"module_{number:04}.{module}.cpu_after_optimizations"


def compilations(graph: Graph) -> list[tuple[object, ...]]:
    return list(
        graph.query(
            "MATCH (r:Run)-[:COMPILED]->(c:Compilation) WHERE c.state = 'complete' "
            "RETURN c.key AS compilation, c.allocationBytes AS allocationBytes "
            "ORDER BY compilation"
        ).rows
    )


def tags(graph: Graph) -> list[object]:
    return list(graph.query("MATCH (r:Run) RETURN r.tags AS tags ORDER BY r.key").rows)


def messages(summary: IngestSummary) -> list[str]:
    return [str(problem) for problem in summary.problems]
