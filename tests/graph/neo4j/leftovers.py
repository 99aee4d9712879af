"""Checks of what loads leave on a server after they have ended."""

from typing import Any

from xlagraph.graph import Graph

__all__ = ["assert_no_leftovers", "first_column"]


def first_column(graph: Graph, text: str) -> list[Any]:
    """Return the first column of a statement."""
    return [row[0] for row in graph.query(text).rows]


def assert_no_leftovers(graph: Graph) -> None:
    """Fail for bookkeeping nodes, parts without a compilation, and unused shared nodes."""
    bookkeeping = "MATCH (n:Load|Loading|Claim) RETURN count(*) AS n"
    hidden = "MATCH (c:Compilation) WHERE c.state <> 'complete' RETURN count(*) AS n"
    stray = (
        "MATCH (n:Value|Instruction|Allocation|MemorySpace) "
        "WHERE NOT EXISTS { MATCH (c:Compilation {key: n.compilation}) } RETURN count(*) AS n"
    )
    for text in (bookkeeping, hidden, stray):
        assert first_column(graph, text) == [0]
    unused = "MATCH (n:Op|Scope|SourceLine|Frame|Module) WHERE NOT EXISTS { MATCH (n)<--() } "
    of_nothing = "MATCH (n:Op) WHERE NOT EXISTS { MATCH (n)-->() } "
    for text in (unused, of_nothing):
        assert first_column(graph, text + "RETURN n.key AS key") == []
