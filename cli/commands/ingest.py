"""`xlagraph ingest`: load folders of dumps into the graph."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import open_graph_of
from xlagraph.cli.output.messages import note, progress_bar
from xlagraph.cli.output.shared_options import (
    DetailOption,
    GraphOptions,
    JobsOption,
    RunNameOption,
    TagOption,
    parse_source,
    parse_tags,
)
from xlagraph.cli.output.termination import sigterm_as_interrupt
from xlagraph.cli.summaries.ingest import write_summary
from xlagraph.cli.summaries.watch import write_ingested, write_problem, write_watched
from xlagraph.graph.schema_detail import Detail

if TYPE_CHECKING:
    from xlagraph.ingest import IngestOptions

_LOOK_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class LoadOptions(GraphOptions):
    """Options of the command, in reverse order of the help."""

    every: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0.05,
            help=f"Seconds between two looks of --watch. (default: {_LOOK_SECONDS:g})",
        ),
    ] = None
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Follow the folders and load each complete compilation, until Ctrl-C."
        ),
    ] = False
    wait: Annotated[
        bool,
        typer.Option(
            "--wait/--no-wait",
            help="Wait while another process writes the file, or fail and name the process.",
        ),
    ] = True
    jobs: JobsOption = None
    detail: DetailOption = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read everything, write nothing.")] = (
        False
    )
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop at the first dump that cannot be parsed.")
    ] = False
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Remove compilations whose files no longer exist."),
    ] = False
    tag: TagOption = None
    run: RunNameOption = None


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
    """Load every dump below each PATH; a folder that contains dumps is a run.

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

    with open_graph_of(options, create=True, wait=options.wait) as graph, sigterm_as_interrupt():
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
