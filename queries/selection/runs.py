"""The runs of a graph, and which compilations each has."""

from typing import Final

from xlagraph.graph.engine import Graph, Result
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.errors import EmptyGraph, NoSuchRun
from xlagraph.queries.similar_names import similar_names

__all__ = ["compilations_of_run", "find_run", "list_runs", "run_names"]

_RUNS: Final = load_statement(__file__, "runs")
_RUN_NAMES: Final = load_statement(__file__, "run-names")
_COMPILATIONS: Final = load_statement(__file__, "compilations-of-run-by-size")


def list_runs(graph: Graph) -> Result:
    """Return a row for each run, by name: path, compilations (how many), ingestedAt, tags."""
    return graph.query(_RUNS)


def run_names(graph: Graph) -> tuple[str, ...]:
    """Return the names of all runs, sorted."""
    return tuple(str(row[0]) for row in graph.query(_RUN_NAMES).rows)


def find_run(graph: Graph, name: str) -> str:
    """Return the name if a run has it; raises NoSuchRun with what is near, EmptyGraph."""
    runs = run_names(graph)
    if not runs:
        raise EmptyGraph
    if name not in runs:
        raise NoSuchRun(f"no run is called '{name}'", similar_names(name, runs))
    return name


def compilations_of_run(graph: Graph, run: str) -> tuple[str, ...]:
    """Return the keys of the compilations of a run, the one that reserves most first."""
    return tuple(str(row[0]) for row in graph.query(_COMPILATIONS, {"run": run}).rows)
