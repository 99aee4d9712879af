"""Dumps of one value, and what an ingest of them did."""

import gzip
from collections.abc import Callable
from pathlib import Path

from xlagraph.graph import Graph
from xlagraph.ingest import IngestSummary

Write = Callable[..., Path]

BLANK_LINES = "\n" * 2**20
"""Make a dump large enough to be prepared alone."""

CUT_GZIP = gzip.compress(b"BufferAssignment:\n" * 99, mtime=0)[:-9]


def dump_text(size: int = 16, *, total: int | None = None) -> str:
    """Write a whole dump of one value that lives in one step."""
    return (
        "BufferAssignment:\n"
        f"allocation 0: size {size}, output shape is |f32[4]|, maybe-live-out:\n"
        f" value: <0 add @0> (size={size},offset=0): f32[4]{{0}}\n"
        f"\nTotal bytes used: {size if total is None else total} ({size}B)\n\nUsed values:\n"
        "<0 add @0>\n positions:\n  add\n uses:\n"
        " from instruction: %add = f32[4]{0} constant({1, 2, 3, 4})\n"
        "\n\nHloLiveRange (max 1):\n  InstructionSequence:\n    0:add\n"
        "  BufferLiveRange:\n    add{}:0-1\n"
        f"  Live ranges at 0 (peak):\n    add: {size} bytes\n"
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
