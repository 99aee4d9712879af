"""What the shell offers for runs and compilations: names out of the graph, or nothing."""

import typer

_KEYS = "MATCH (c:Compilation) WHERE c.state = 'complete' RETURN c.key AS name ORDER BY name"
_RUNS = "MATCH (r:Run) RETURN r.name AS name ORDER BY name"


def complete_run(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names of runs."""
    return _names_beginning_with(context, incomplete, _RUNS)


def complete_compilation(context: typer.Context, incomplete: str) -> list[str]:
    """Return the keys of compilations."""
    return _names_beginning_with(context, incomplete, _KEYS)


def complete_either(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names of runs, then the keys of compilations."""
    return _names_beginning_with(context, incomplete, _RUNS, _KEYS)


def _names_beginning_with(context: typer.Context, incomplete: str, *statements: str) -> list[str]:
    from xlagraph.graph import GraphError, open_graph

    try:
        with open_graph(context.params.get("graph")) as graph:
            names = [str(row[0]) for text in statements for row in graph.query(text).rows]
    except GraphError:  # a shell that completes is no place for a message
        return []
    return [name for name in names if name.startswith(incomplete)]
