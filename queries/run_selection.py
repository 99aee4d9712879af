"""The runs of a graph, and which compilations a name of the user's stands for."""

from dataclasses import dataclass
from typing import Final

from xlagraph.graph.engine import Graph, Result
from xlagraph.queries.errors import NoSuchCompilation
from xlagraph.queries.selection import find_compilation, near

_RUNS: Final = """
MATCH (r:Run)
OPTIONAL MATCH (r)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
RETURN r.name AS run, r.path AS path, count(c) AS compilations,
       r.ingestedAt AS ingestedAt, r.tags AS tags
ORDER BY run
"""

_COMPILATIONS: Final = """
MATCH (r:Run {key: $run})-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete'
RETURN c.key AS compilation
ORDER BY compilation
"""


@dataclass(frozen=True, slots=True)
class Selection:
    """What a name stands for: a run with its compilations, or one compilation."""

    name: str
    """Name of the run, or the whole key of the compilation."""
    is_run: bool
    compilations: tuple[str, ...]
    """Keys, sorted."""


def list_runs(graph: Graph) -> Result:
    """Give a row for each run, by name: path, compilations (how many), ingestedAt, tags."""
    return graph.query(_RUNS)


def select(graph: Graph, name: str) -> Selection:
    """Find what a name stands for: a run by its name, else a compilation as usual.

    Raises NoSuchCompilation or AmbiguousCompilation with the candidates, and EmptyGraph.
    """
    runs = [str(row[0]) for row in list_runs(graph).rows]
    if name in runs:
        return Selection(name, is_run=True, compilations=compilations_of(graph, name))
    try:
        key = find_compilation(graph, name).key
    except NoSuchCompilation as error:
        raise NoSuchCompilation(
            f"no run is called '{name}', and no compilation has it in its key",
            list(dict.fromkeys((*near(name, runs), *error.candidates))),
        ) from None
    return Selection(key, is_run=False, compilations=(key,))


def compilations_of(graph: Graph, run: str) -> tuple[str, ...]:
    """Give the keys of the complete compilations of a run, sorted."""
    return tuple(str(row[0]) for row in graph.query(_COMPILATIONS, {"run": run}).rows)
