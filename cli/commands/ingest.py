"""`xlagraph ingest`: from folders of dumps into the graph."""

from dataclasses import dataclass
from typing import Annotated

import typer

from xlagraph.cli.options.graph_and_queries import open_graph_of
from xlagraph.cli.options.shared_options import (
    GraphOptions,
    JobsOption,
    RunNameOption,
    TagOption,
    parse_source,
    parse_tags,
)
from xlagraph.cli.output.exit_codes import ExitCode
from xlagraph.cli.output.messages import progress_bar
from xlagraph.cli.summaries.ingest import write_summary


@dataclass(frozen=True, slots=True)
class LoadOptions(GraphOptions):
    """Options, in reverse order of the help."""

    wait: Annotated[
        bool,
        typer.Option(
            "--wait/--no-wait",
            help="Wait while another process writes the file, or fail and name it.",
        ),
    ] = True
    jobs: JobsOption = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read everything, write nothing.")] = (
        False
    )
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop at the first dump that cannot be parsed.")
    ] = False
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove from the run what its folder no longer holds.")
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
    """Load every dump below each PATH; a folder that holds dumps is a run.

    Example: xlagraph ingest runs/ --tag commit=3f2a1c
    """
    from xlagraph.ingest import IngestOptions
    from xlagraph.ingest import ingest as ingest_dumps

    chosen = IngestOptions(
        run=options.run,
        tags=[f"{name}={value}" for name, value in parse_tags(options.tag or ())],
        replace=options.replace,
        fail_fast=options.fail_fast,
        dry_run=options.dry_run,
    )
    with (
        open_graph_of(options, create=True, wait=options.wait) as graph,
        progress_bar() as progress,
    ):
        summary = ingest_dumps(graph, paths, chosen, jobs=options.jobs, progress=progress)
    write_summary(summary, paths)
    if not summary.ok:
        raise typer.Exit(ExitCode.FAILED)
