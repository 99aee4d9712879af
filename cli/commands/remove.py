"""`xlagraph remove`: remove a run or a compilation."""

import sys
from typing import Annotated

import typer

from xlagraph.cli.options.graph_and_queries import complete_compilation, open_graph_of
from xlagraph.cli.options.shared_options import GraphOptions
from xlagraph.cli.output.cells import escape_control_characters
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.messages import counted, is_interactive, note


def remove(
    options: GraphOptions,
    name: Annotated[
        str,
        typer.Argument(
            metavar="RUN|COMPILATION",
            help="Full name of what to remove.",
            autocompletion=complete_compilation,
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove a run or a compilation from the graph, with all that only it uses.

    Example: xlagraph remove baseline --yes
    """
    from xlagraph.graph import remove as remove_from
    from xlagraph.queries.selection.compilations import select_exact

    with open_graph_of(options) as graph:
        selection = select_exact(graph, name)
        what = selection.name
        if selection.is_run:
            what = f"run {what} ({counted(len(selection.compilations), 'compilation')})"
        if not (yes or _is_confirmed(f"remove {what}?")):
            raise typer.Exit(ExitCode.FAILED)
        remove_from(graph, selection.name)
        note(f"removed {what}")


def _is_confirmed(question: str) -> bool:
    if not is_interactive():
        raise UsageError("there is nobody to ask; --yes removes without a question")
    sys.stderr.write(f"{escape_control_characters(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
