"""What the shell offers for runs and compilations: names out of the graph, or nothing."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from xlagraph.graph import Graph


def complete_run(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names of runs."""
    from xlagraph.queries.selection.runs import run_names

    return _names_beginning_with(context, incomplete, run_names)


def complete_compilation(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names of runs, each of which stands for one, then the keys of compilations."""
    from xlagraph.queries.selection.compilations import compilation_keys
    from xlagraph.queries.selection.runs import run_names

    return _names_beginning_with(
        context, incomplete, lambda graph: [*run_names(graph), *sorted(compilation_keys(graph))]
    )


def _names_beginning_with(
    context: typer.Context, incomplete: str, names: Callable[["Graph"], Sequence[str]]
) -> list[str]:
    from xlagraph.graph import GraphError, open_graph
    from xlagraph.queries.errors import QueryError

    try:
        with open_graph(context.params.get("graph")) as graph:
            return [name for name in names(graph) if name.startswith(incomplete)]
    except (GraphError, QueryError):  # a shell that completes is no place for a message
        return []
