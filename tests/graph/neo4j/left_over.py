"""What a server holds when loads have ended, and what it must not hold."""

from typing import Any

from xlagraph.graph import Graph

__all__ = ["assert_nothing_is_left_over", "cells"]


def cells(graph: Graph, text: str) -> list[Any]:
    """Return the first column of a statement."""
    return [row[0] for row in graph.query(text).rows]


def assert_nothing_is_left_over(graph: Graph) -> None:
    """Accept no bookkeeping, no part without its compilation, no shared node without a user."""
    assert cells(graph, "MATCH (n:Load|Loading) RETURN count(*) AS n") == [0]
    assert cells(graph, "MATCH (c:Compilation) WHERE c.state <> 'complete' RETURN c.key AS k") == []
    stray = (
        "MATCH (n:Value|Instruction|Allocation|MemorySpace) "
        "WHERE NOT EXISTS { MATCH (c:Compilation {key: n.compilation}) } RETURN count(*) AS n"
    )
    assert cells(graph, stray) == [0]
    unused = "MATCH (n:Op|Scope|SourceLine|Frame|Module) WHERE NOT EXISTS { MATCH (n)<--() } "
    assert cells(graph, unused + "RETURN n.key AS key") == []
    assert (
        cells(graph, "MATCH (n:Op) WHERE NOT EXISTS { MATCH (n)-->() } RETURN n.key AS key") == []
    )
