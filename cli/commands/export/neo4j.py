"""`xlagraph export neo4j`: the first load of a Neo4j, faster than any server takes rows."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xlagraph.cli.options.graph_and_queries import open_graph_of
from xlagraph.cli.options.shared_options import (
    DetailOption,
    GraphOptions,
    JobsOption,
    RunNameOption,
    TagOption,
    parse_path,
    parse_tags,
)
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.messages import counted, error, note, progress_bar
from xlagraph.cli.summaries.ingest import write_summary
from xlagraph.graph.schema_detail import Detail

if TYPE_CHECKING:
    from xlagraph.ingest import Shard


NewFolderOption = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Where the files go: a new or empty folder.",
        parser=parse_path,
    ),
]


@dataclass(frozen=True, slots=True)
class ExportOptions(GraphOptions):
    """Options that need a PATH, in reverse order of the help."""

    jobs: JobsOption = None
    detail: DetailOption = None
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N", help="Take the I-th of N shares of the dumps, from 1/N to N/N."
        ),
    ] = None
    tag: TagOption = None
    run: RunNameOption = None


def neo4j(
    options: ExportOptions,
    output: NewFolderOption,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Folders of dumps, or single dumps (default: what the graph holds).",
            parser=parse_path,
        ),
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Each PATH is an export: make one of them all.")
    ] = False,
) -> None:
    """Write files for Neo4j's offline importer, and on stdout the command that imports them.

    Example: xlagraph export neo4j runs/ -o bulk/
    """
    if paths and options.graph is not None:
        raise UsageError("name a PATH or a --graph to export from, not both")
    about_dumps = (options.run, options.shard, options.detail, options.jobs)
    concerns_dumps = bool(options.tag) or any(option is not None for option in about_dumps)
    if not paths and (merge or concerns_dumps):
        raise UsageError(
            "--merge, --run, --tag, --shard, --detail and --jobs are about a PATH: name one"
        )
    if merge and concerns_dumps:
        raise UsageError("--merge takes finished exports as they are: name no other option")
    if not paths:
        _export_graph(options, output)
    elif merge:
        _merge(output, paths)
    else:
        _export_dumps(output, paths, options)


def _export_dumps(folder: Path, paths: list[Path], options: ExportOptions) -> None:
    from xlagraph.graph import open_export
    from xlagraph.ingest import IngestOptions, ingest

    shard = _shard(options.shard)
    tags = [f"{name}={value}" for name, value in parse_tags(options.tag or ())]
    chosen = IngestOptions(
        run=options.run, tags=tags, shard=shard, detail=options.detail or Detail.ALL
    )
    with open_export(folder) as target, progress_bar() as progress:
        summary = ingest(target, paths, chosen, jobs=options.jobs, progress=progress)
    if shard is not None and not (summary.added or summary.problems):
        error(f"there are no dumps in shard {shard.number}/{shard.of}")
    else:
        write_summary(summary, paths, verb="export")
    if target.manifest.nodes:
        _write_command(folder)
    if not summary.ok:
        raise typer.Exit(ExitCode.FAILED)


def _export_graph(options: GraphOptions, folder: Path) -> None:
    from xlagraph.graph import export as export_graph

    with open_graph_of(options) as graph:
        manifest = export_graph(graph, folder)
        if not manifest.nodes:
            error(f"nothing to export: {graph.location} holds no compilation")
            raise typer.Exit(ExitCode.FAILED)
    note(
        f"exported {counted(manifest.counts['Compilation'], 'compilation')}:"
        f" {counted(manifest.nodes, 'node')}, {counted(manifest.relationships, 'relationship')}"
    )
    _write_command(folder)


def _merge(folder: Path, exports: list[Path]) -> None:
    from xlagraph.graph import merge_exports

    manifest = merge_exports(folder, exports)
    note(
        f"merged {counted(len(exports), 'export')} of"
        f" {counted(manifest.counts['Compilation'], 'compilation')}:"
        f" {counted(manifest.nodes, 'node')}, {counted(manifest.relationships, 'relationship')};"
        " they are still needed"
    )
    _write_command(folder)


def _write_command(folder: Path) -> None:
    from xlagraph.graph import import_command

    note(f"import it into a stopped Neo4j with `sh {folder / 'import.sh'}`, which runs this:")
    typer.echo(import_command(folder))


def _shard(text: str | None) -> "Shard | None":
    if text is None:
        return None
    from xlagraph.ingest import Shard

    match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text, re.ASCII)
    if match is None:
        raise UsageError(f"expected --shard I/N, such as 1/4, found {text!r}")
    number, of = int(match[1]), int(match[2])
    if not 1 <= number <= of:
        raise UsageError(f"expected a shard from 1/{max(of, 1)} to {max(of, 1)}/{max(of, 1)}")
    return Shard(number, of)
