"""`xlagraph remove`: remove a run, a compilation, or expired runs."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from xlagraph.cli.output.cells import escape_control_characters
from xlagraph.cli.output.declared_options import flag, option
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import complete_compilation, open_graph_of
from xlagraph.cli.output.limits import parse_age
from xlagraph.cli.output.messages import is_interactive, note
from xlagraph.cli.output.shared_options import GraphOptions, parse_tags
from xlagraph.presentation.byte_sizes import counted

if TYPE_CHECKING:
    from xlagraph.graph import Graph
    from xlagraph.queries.runner.expired_runs import ExpiredRun, Retention


@dataclass(frozen=True)
class RemoveOptions(GraphOptions):
    """Options of the command."""

    older_than: timedelta | None = option(
        "Remove runs ingested longer ago than this: 12h, 30d, 8w.", metavar="AGE", parser=parse_age
    )
    keep_last: int | None = option("Keep the N most recently ingested runs.", metavar="N", least=0)
    tag: list[str] | None = option(
        "Consider only runs with this tag; repeatable.", metavar="NAME=VALUE"
    )
    module: str | None = option(
        "Consider only runs that compiled a module of this name.", metavar="NAME"
    )
    yes: bool = flag("Do not ask for confirmation.", "-y")


def remove(
    options: RemoveOptions,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN|COMPILATION",
            help="Full name of what to remove.",
            autocompletion=complete_compilation,
        ),
    ] = None,
) -> None:
    """Remove a run or a compilation from the graph.

    Without a name, remove runs older than --older-than that are not among the last --keep-last.

    Example: xlagraph remove baseline --yes

    Example: xlagraph remove --older-than 30d --keep-last 10 --yes
    """
    retention = _retention(options)
    if (name is None) is (retention is None):
        raise UsageError("name a run or a compilation, or give --older-than or --keep-last")
    with open_graph_of(options) as graph:
        if name is not None:
            _remove_named(graph, name, yes=options.yes)
        elif retention is not None:
            _remove_expired(graph, retention, yes=options.yes)


def _retention(options: RemoveOptions) -> "Retention | None":
    from xlagraph.queries.runner.expired_runs import Retention

    tags = [f"{name}={value}" for name, value in parse_tags(options.tag or ())]
    if options.older_than is None and options.keep_last is None:
        if tags or options.module is not None:
            raise UsageError("--tag and --module need --older-than or --keep-last")
        return None
    return Retention(options.older_than, options.keep_last, tags, options.module)


def _remove_named(graph: "Graph", name: str, *, yes: bool) -> None:
    from xlagraph.graph import remove as remove_from
    from xlagraph.queries.runner.compilations import select_exact

    selection = select_exact(graph, name)
    what = selection.name
    if selection.is_run:
        what = f"run {what} ({counted(len(selection.compilations), 'compilation')})"
    _confirm(f"remove {what}?", yes=yes)
    remove_from(graph, selection.name)
    note(f"removed {what}")


def _remove_expired(graph: "Graph", retention: "Retention", *, yes: bool) -> None:
    from xlagraph.graph import remove_runs
    from xlagraph.queries.runner.expired_runs import expired_runs

    runs = expired_runs(graph, retention)
    if not runs:
        note("no run to remove")
        return
    for run in runs:
        note(
            f"{run.name}: {counted(run.compilations, 'compilation')},"
            f" ingested {run.ingested_at.isoformat(sep=' ')}"
        )
    what = _summary(runs)
    _confirm(f"remove {what}?", yes=yes)
    remove_runs(graph, [run.name for run in runs])
    note(f"removed {what}")


def _summary(runs: "Sequence[ExpiredRun]") -> str:
    compilations = sum(run.compilations for run in runs)
    return f"{counted(len(runs), 'run')} ({counted(compilations, 'compilation')})"


def _confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation unless ``yes``; end the command if the answer is no."""
    if yes:
        return
    if not is_interactive():
        raise UsageError("no terminal to ask on; --yes removes without asking")
    sys.stderr.write(f"{escape_control_characters(question)} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise typer.Exit(ExitCode.FAILED)
