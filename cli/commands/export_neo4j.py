"""`xlagraph export neo4j`: write files for a first load of Neo4j, faster than any server."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from xlagraph.cli.output.declared_options import option
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import open_graph_of
from xlagraph.cli.output.messages import detail, error, note, progress_bar
from xlagraph.cli.output.shared_options import (
    GraphOptions,
    detail_option,
    jobs_option,
    parse_source,
    parse_tags,
    run_name_option,
    tag_option,
)
from xlagraph.cli.summaries.ingest import write_summary
from xlagraph.graph.schema import Detail
from xlagraph.presentation.byte_sizes import counted

if TYPE_CHECKING:
    from xlagraph.ingest import IngestOptions, Shard


NewFolderOption = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Write the files to this new or empty folder, or address.",
        parser=parse_source,
    ),
]


@dataclass(frozen=True)
class ExportOptions(GraphOptions):
    """Options that require a PATH."""

    run: str | None = run_name_option("Name of the run, if there is only one.")
    tag: list[str] | None = tag_option()
    shard: str | None = option(
        "Export only the I-th of N shares of the dumps, from 1/N to N/N.", metavar="I/N"
    )
    detail: Detail | None = detail_option()
    jobs: int | None = jobs_option()
    on: str | None = option(
        "Run on a Ray cluster: ray (RAY_ADDRESS, or this machine), or ray://HOST:PORT.",
        metavar="CLUSTER",
    )


def neo4j(
    options: ExportOptions,
    output: NewFolderOption,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Folders of dumps, single dumps, addresses (default: the whole graph).",
            parser=parse_source,
        ),
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Each PATH is an export: merge them into one.")
    ] = False,
) -> None:
    """Write files for Neo4j's offline importer, and print the command that imports them.

    Example: xlagraph export neo4j runs/ -o bulk/
    """
    if paths and options.graph is not None:
        raise UsageError("export from a PATH or from --graph, not from both")
    about_dumps = (options.run, options.shard, options.detail, options.jobs, options.on)
    concerns_dumps = bool(options.tag) or any(option is not None for option in about_dumps)
    if not paths and (merge or concerns_dumps):
        raise UsageError("--merge, --run, --tag, --shard, --detail, --jobs and --on require a PATH")
    if merge and concerns_dumps:
        raise UsageError("--merge only merges finished exports: remove the other options")
    if options.on is not None and options.shard is not None:
        raise UsageError("--on already divides the dumps: remove --shard")
    if merge and any("://" in path for path in paths or ()):
        raise UsageError("--merge requires folders on this machine: fetch the exports first")
    if options.on is not None:
        is_ok = _export_on_cluster(output, paths or [], options, options.on)
    else:
        with _folder_of(output) as folder:
            if not paths:
                is_ok = _export_graph(options, folder, output)
            elif merge:
                is_ok = _merge(folder, [Path(path) for path in paths], output)
            else:
                is_ok = _export_dumps(folder, paths, options, output)
    if not is_ok:
        raise typer.Exit(ExitCode.FAILED)


@contextmanager
def _folder_of(output: str) -> Iterator[Path]:
    """Provide the folder of a path; for an address, one whose export is uploaded at the end."""
    if "://" not in output:
        yield Path(output)
        return
    from xlagraph.ingest.loading.shared_folder import check_is_empty, upload

    check_is_empty(output)
    with TemporaryDirectory(prefix="xlagraph-") as temporary:
        folder = Path(temporary, "export")
        yield folder
        if folder.exists():
            upload(folder, output)


def _export_on_cluster(output: str, paths: list[str], options: ExportOptions, cluster: str) -> bool:
    from xlagraph.ingest.loading.ray_export import export_on_ray

    if cluster != "ray" and not cluster.startswith("ray://"):
        raise UsageError(f"expected --on ray or --on ray://HOST:PORT, found {cluster}")
    manifest, summary = export_on_ray(
        output,
        paths,
        _chosen(options),
        cluster=None if cluster == "ray" else cluster,
        processors=options.jobs,
        on_part=lambda done, of: detail(f"wrote part {done} of {of}"),
    )
    write_summary(summary, paths, verb="export")
    if manifest is not None:
        _write_command(Path(output), output)
    return summary.ok


def _chosen(options: ExportOptions) -> "IngestOptions":
    from xlagraph.ingest import IngestOptions

    tags = [f"{name}={value}" for name, value in parse_tags(options.tag or ())]
    return IngestOptions(
        run=options.run,
        tags=tags,
        shard=_shard(options.shard),
        detail=options.detail or Detail.ALL,
    )


def _export_dumps(folder: Path, paths: list[str], options: ExportOptions, output: str) -> bool:
    from xlagraph.graph import open_export
    from xlagraph.ingest import ingest

    chosen = _chosen(options)
    shard = chosen.shard
    with open_export(folder) as target, progress_bar() as progress:
        summary = ingest(target, paths, chosen, jobs=options.jobs, progress=progress)
    if shard is not None and not (summary.added or summary.problems):
        note(f"shard {shard.number}/{shard.of} has no dumps: nothing was written")
        return True
    write_summary(summary, paths, verb="export")
    if target.manifest.nodes:
        _write_command(folder, output)
    return summary.ok


def _export_graph(options: GraphOptions, folder: Path, output: str) -> bool:
    from xlagraph.graph import export as export_graph

    with open_graph_of(options) as graph:
        manifest = export_graph(graph, folder)
        if not manifest.nodes:
            error(f"nothing to export: {graph.location} contains no compilation")
            return False
    note(
        f"exported {counted(manifest.counts['Compilation'], 'compilation')}:"
        f" {counted(manifest.nodes, 'node')}, {counted(manifest.relationships, 'relationship')}"
    )
    _write_command(folder, output)
    return True


def _merge(folder: Path, exports: list[Path], output: str) -> bool:
    from xlagraph.graph import merge_exports

    manifest = merge_exports(folder, exports)
    note(
        f"merged {counted(len(exports), 'export')} of"
        f" {counted(manifest.counts['Compilation'], 'compilation')}:"
        f" {counted(manifest.nodes, 'node')}, {counted(manifest.relationships, 'relationship')};"
        " keep these exports, their files are still required"
    )
    _write_command(folder, output)
    return True


def _write_command(folder: Path, output: str) -> None:
    """Write how to import an export, which must be copied first if it is at an address."""
    if "://" in output:
        from xlagraph.ingest import without_credentials

        shown = without_credentials(output)
        note(f"copy {shown} to the machine of a stopped Neo4j, and run `sh import.sh` there")
        return
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
