"""Access to the graph, the catalogue, and the names for shell completion."""

import getpass
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.messages import detail, is_interactive, note, problem
from xlagraph.cli.output.shared_options import GraphOptions, LineOptions

if TYPE_CHECKING:
    from xlagraph.graph import Graph
    from xlagraph.graph.neo4j.browser import BrowserPage
    from xlagraph.ingest.user_lines import CodeOwners
    from xlagraph.queries.catalogue.query_files import Query


@contextmanager
def open_graph_of(
    options: GraphOptions, *, create: bool = False, wait: bool = True
) -> Iterator["Graph"]:
    """Open the graph given by ``--graph``, the environment, or the current folder."""
    from xlagraph.graph import open_graph

    with open_graph(
        options.graph, create=create, wait=wait, ask_password=ask_password, notify=note
    ) as graph:
        note(f"graph: {graph.location}")
        detail(", ".join(f"{name} {version}" for name, version in graph.versions.items()))
        with users_lines_of(options, graph) as chosen:
            yield chosen


@contextmanager
def users_lines_of(options: GraphOptions, graph: "Graph") -> Iterator["Graph"]:
    """Open the graph with the lines of the code that options or xlagraph.toml call the user's."""
    owners = _code_owners(options, graph) if isinstance(options, LineOptions) else None
    if owners is None:
        yield graph
        return
    from xlagraph.ingest.user_lines import with_user_lines

    with with_user_lines(graph, owners) as chosen:
        yield chosen


def _code_owners(options: LineOptions, graph: "Graph") -> "CodeOwners | None":
    """Return the choice of the options, else of the file next to the graph or here; None if none.

    Raises UsageError with the fault of the file.
    """
    given = tuple(options.own or ()), tuple(options.library or ())
    folders = dict.fromkeys((Path(graph.location).parent, Path()))
    file = next((path for each in folders if (path := each / "xlagraph.toml").is_file()), None)
    if not any(given) and file is None:
        return None
    from xlagraph.ingest.user_lines import CodeOwners, read_code_owners

    try:
        stored = CodeOwners() if file is None else read_code_owners(file)
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from None
    owners = CodeOwners(given[0] + stored.own, given[1] + stored.library)
    return owners if any(owners) else None


def ask_password(user: str) -> str | None:
    """Ask for a user's password; None if there is no terminal."""
    if not is_interactive():
        return None
    return getpass.getpass(f"password of {user}: ", stream=sys.stderr)


def catalogue(
    directories: Sequence[Path] = (), on_problem: Callable[[str], None] | None = None
) -> Mapping[str, "Query"]:
    """Read the catalogue, with the queries in `XLAGRAPH_QUERIES` and in ``directories``.

    An invalid file is left out; ``on_problem`` receives the message (default: write it).
    """
    from xlagraph.queries.catalogue.query_files import load_catalogue

    return load_catalogue(
        query_folders(directories),
        on_problem=on_problem or (lambda text: problem(f"left out: {text}")),
    )


def query_folders(directories: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Return the folders of user queries, those of the environment first."""
    named = filter(None, os.environ.get("XLAGRAPH_QUERIES", "").split(os.pathsep))
    folders = (path.expanduser() for path in (*map(Path, named), *directories))
    return tuple(dict.fromkeys(folders))


def complete_run(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names of runs that begin with the incomplete word."""
    from xlagraph.queries.runner.compilations import run_names

    return _names_beginning_with(context, incomplete, run_names)


def complete_compilation(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names of runs, then the keys of compilations; a run selects its largest."""
    from xlagraph.queries.runner.compilations import compilation_keys, run_names

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
    except (GraphError, QueryError):  # completion must not print messages
        return []


_A_NAME = "A key, a unique part of one, or a run; by default the one that reserves most."
CompilationArgument = Annotated[
    str | None,
    typer.Argument(metavar="COMPILATION", help=_A_NAME, autocompletion=complete_compilation),
]
CompilationOption = Annotated[
    str | None,
    typer.Option("--compilation", "-c", help=_A_NAME, autocompletion=complete_compilation),
]


def note_guess(browser: "BrowserPage") -> None:
    """Note that links connect to the default server, if none is configured."""
    if browser.is_guess:
        note(
            "no server is configured: the link connects to the one on this machine, in"
            f" {browser.page}; NEO4J_URI sets the server, --browser-url its page"
        )
