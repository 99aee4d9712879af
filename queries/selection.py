"""Which compilation or run a user means by a name."""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from xlagraph.graph.engine import Graph, Result
from xlagraph.queries.errors import AmbiguousCompilation, EmptyGraph, NoSuchCompilation, NoSuchRun

_BY_KEY: Final = """
MATCH (c:Compilation {key: $compilation}) WHERE c.state = 'complete'
RETURN c.key AS compilation
"""
_BY_PART: Final = """
MATCH (c:Compilation) WHERE c.state = 'complete' AND c.key CONTAINS $part
RETURN c.key AS compilation ORDER BY compilation
"""
_ALL: Final = """
MATCH (c:Compilation) WHERE c.state = 'complete'
RETURN c.key AS compilation ORDER BY compilation
"""
_MOST_RESERVED: Final = """
MATCH (c:Compilation) WHERE c.state = 'complete'
RETURN c.key AS compilation, coalesce(c.reservedBytes, 0) AS reservedBytes
ORDER BY reservedBytes DESC, compilation LIMIT 1
"""
_RUNS: Final = "MATCH (r:Run) RETURN r.name AS run ORDER BY run"


@dataclass(frozen=True, slots=True)
class FoundCompilation:
    """The compilation that a name stands for."""

    key: str
    chosen: bool
    """Nobody named it: it is the one with the most reserved bytes."""


def find_compilation(graph: Graph, name: str | None) -> FoundCompilation:
    """Resolve a key, or a unique part of one, case as written; an exact key wins.

    Without a name it is the compilation with the most reserved bytes, then the smallest
    key. Raises NoSuchCompilation or AmbiguousCompilation with what else there is, and
    EmptyGraph.
    """
    if not name:
        keys = _column(graph.query(_MOST_RESERVED))
        if not keys:
            raise EmptyGraph
        return FoundCompilation(keys[0], chosen=True)
    if _column(graph.query(_BY_KEY, {"compilation": name})):
        return FoundCompilation(name, chosen=False)
    matches = _column(graph.query(_BY_PART, {"part": name}))
    if len(matches) > 1:
        raise AmbiguousCompilation(name, matches)
    if not matches:
        keys = _column(graph.query(_ALL))
        if not keys:
            raise EmptyGraph
        raise NoSuchCompilation(f"no compilation has '{name}' in its key", near(name, keys))
    return FoundCompilation(matches[0], chosen=False)


def find_run(graph: Graph, name: str) -> str:
    """Give the name back if a run has it; raises NoSuchRun with what is near, EmptyGraph."""
    runs = _column(graph.query(_RUNS))
    if not runs:
        raise EmptyGraph
    if name not in runs:
        raise NoSuchRun(f"no run is called '{name}'", near(name, runs))
    return name


def near(name: str, names: list[str]) -> list[str]:
    """Give up to five of ``names`` that a user may have meant, nearest first."""
    containing = [item for item in names if name.lower() in item.lower()]
    close = get_close_matches(name, names, n=5, cutoff=0.5)
    return list(dict.fromkeys((*close, *containing)))[:5] or (names if len(names) <= 5 else [])


def _column(result: Result) -> list[str]:
    return [str(row[0]) for row in result.rows]
