"""`xlagraph ingest`: load folders of dumps into the graph."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from xlagraph.cli.output.declared_options import flag, option
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import open_graph_of
from xlagraph.cli.output.messages import note, progress_bar
from xlagraph.cli.output.shared_options import (
    GraphOptions,
    categories_option,
    detail_option,
    jobs_option,
    parse_categories,
    parse_source,
    parse_tags,
    run_name_option,
    tag_option,
)
from xlagraph.cli.summaries.ingest import (
    write_ingested,
    write_problem,
    write_summary,
    write_watched,
)
from xlagraph.graph.schema import Detail

if TYPE_CHECKING:
    from xlagraph.ingest import IngestOptions

_LOOK_SECONDS: Final = 5.0


@dataclass(frozen=True)
class LoadOptions(GraphOptions):
    """Options of the command."""

    run: str | None = run_name_option("Name of the run, if there is only one.")
    tag: list[str] | None = tag_option()
    replace: bool = flag(
        "Make a run equal to its folder: also remove compilations whose files no longer exist, and"
        " replace a run of this name from another folder."
    )
    fail_fast: bool = flag("Stop at the first dump that cannot be parsed.")
    dry_run: bool = flag("Read everything, write nothing.")
    detail: Detail | None = detail_option()
    categories: Path | None = categories_option()
    jobs: int | None = jobs_option()
    wait: bool = option(
        "Wait while another process writes the file, or fail and name the process.",
        "--wait/--no-wait",
        default=True,
    )
    watch: bool = flag("Follow the folders and load each complete compilation, until Ctrl-C.")
    every: float | None = option(
        f"Seconds between two looks of --watch. (default: {_LOOK_SECONDS:g})",
        metavar="SECONDS",
        least=0.05,
    )


def ingest(
    options: LoadOptions,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Folders, single dumps, archives; - for stdin; addresses such as s3://bucket/runs.",
            parser=parse_source,
        ),
    ],
) -> None:
    """Load the dumps below each PATH; a folder of dumps is a run.

    Example: xlagraph ingest runs/ --tag commit=3f2a1c
    """
    from xlagraph.ingest import IngestOptions
    from xlagraph.ingest import ingest as ingest_dumps

    if options.watch or options.every is not None:
        _check_watch(options, paths)
    chosen = IngestOptions(
        run=options.run,
        tags=[f"{name}={value}" for name, value in parse_tags(options.tag or ())],
        replace=options.replace,
        fail_fast=options.fail_fast,
        dry_run=options.dry_run,
        detail=options.detail or Detail.ALL,
        categories=parse_categories(options.categories),
    )
    if options.watch:
        _watch(options, paths, chosen)
        return
    with (
        open_graph_of(options, create=True, wait=options.wait) as graph,
        progress_bar() as progress,
    ):
        summary = ingest_dumps(graph, paths, chosen, jobs=options.jobs, progress=progress)
    write_summary(summary, paths)
    if not summary.ok:
        raise typer.Exit(ExitCode.FAILED)


def _check_watch(options: LoadOptions, paths: list[str]) -> None:
    if not options.watch:
        raise UsageError("--every requires --watch")
    if options.replace or options.dry_run or options.fail_fast:
        raise UsageError("--watch cannot be used with --replace, --dry-run or --fail-fast")
    if "-" in paths:
        raise UsageError("--watch follows folders and addresses, not standard input")


def _watch(options: LoadOptions, paths: list[str], chosen: "IngestOptions") -> None:
    """Follow the folders until Ctrl-C or SIGTERM."""
    from xlagraph.ingest import watch, without_credentials

    with open_graph_of(options, create=True, wait=options.wait) as graph, _sigterm_as_interrupt():
        shown = ", ".join(map(without_credentials, paths))
        note(f"watching {shown}; Ctrl-C ends it")
        summary = watch(
            graph,
            paths,
            chosen,
            jobs=options.jobs,
            look_seconds=_LOOK_SECONDS if options.every is None else options.every,
            on_ingest=write_ingested,
            on_problem=write_problem,
        )
    write_watched(summary)
    if summary.held_back:
        raise typer.Exit(ExitCode.FAILED)


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Handle SIGTERM, which schedulers send, as Ctrl-C; only for the main thread."""
    former = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)
