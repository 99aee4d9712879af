"""`xlagraph record`: run a program, and load the dumps of its compilations."""

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated

import typer

from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import ask_password, open_graph_of
from xlagraph.cli.output.messages import note, problem, progress_bar
from xlagraph.cli.output.shared_options import (
    GraphOptions,
    RunNameOption,
    TagOption,
    parse_path,
    parse_tags,
)
from xlagraph.cli.summaries.ingest import write_summary


@dataclass(frozen=True, slots=True)
class RecordOptions(GraphOptions):
    """Options of the command, in reverse order of the help."""

    print_only: Annotated[
        bool,
        typer.Option("--print", help="Print the environment for a shell; run nothing."),
    ] = False
    no_ingest: Annotated[
        bool, typer.Option("--no-ingest", help="Only dump; do not load into the graph.")
    ] = False
    dumps: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep the dump files that an ingest reads, in a new or empty folder.",
            parser=parse_path,
        ),
    ] = None
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the run that has this name.")
    ] = False
    tag: TagOption = None
    run: RunNameOption = None


def record(
    options: RecordOptions,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND", help="The program and its arguments."),
    ] = None,
) -> None:
    """Run a program of any framework, and load the memory plans of its compilations.

    Only the environment of the program changes: flags are added to XLA_FLAGS, and JAX's
    compilation cache is disabled. Dumps are written to a temporary folder, or to the folder in
    XLA_FLAGS or --dumps. They are loaded even if the program fails; `record` ends with its exit
    code.

    Example: xlagraph record --run baseline -- python train.py
    """
    from xlagraph.recording import dump_variables, recording_name, run_program

    parse_tags(options.tag or ())  # errors in tags show before the program runs
    if options.print_only:
        with _dump_folder(options) as folder:
            _print_variables(dump_variables(folder, os.environ))
        return
    if not command or shutil.which(command[0]) is None:
        found = f"'{command[0]}', which does not exist" if command else "none"
        raise UsageError(f"expected a program, as in `record -- python train.py`; found {found}")
    name = options.run or recording_name(command, datetime.now(UTC))
    if not options.no_ingest:
        _check_graph(options)
    with _dump_folder(options) as folder:
        variables = dump_variables(folder, os.environ)
        note(f"recording run {name}: XLA dumps to {folder}")
        code = run_program(command, variables)
        if code:
            place = f"--dumps {folder}" if options.no_ingest else f"--run {name}"
            note(f"exit code {code}; if memory ran out: xlagraph oom LOG {place}")
        if not options.no_ingest and not _is_ingested(options, folder, name):
            raise typer.Exit(code or ExitCode.FAILED)
    if code:
        raise typer.Exit(code)


@contextmanager
def _dump_folder(options: RecordOptions) -> Iterator[Path]:
    """Yield the folder for dumps: from XLA_FLAGS, from --dumps, or a temporary one."""
    from xlagraph.recording import dump_folder_in_flags, new_dump_folder, remove_unread_files

    flagged = dump_folder_in_flags(os.environ)
    if flagged is not None and options.dumps is not None:
        raise UsageError(f"XLA_FLAGS already dumps to {flagged}: remove that flag or --dumps")
    if flagged is not None:
        yield flagged
    elif options.dumps is not None and options.print_only:
        yield options.dumps.absolute()
    elif options.dumps is not None:
        yield new_dump_folder(options.dumps.absolute())
        remove_unread_files(options.dumps.absolute())
    elif options.print_only or options.no_ingest:
        raise UsageError("--print and --no-ingest require --dumps DIR, the folder for the dumps")
    else:
        with _temporary_folder() as folder:
            yield folder


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Yield a folder that is removed at the end; after an error, it is kept if it has dumps."""
    folder = Path(mkdtemp(prefix="xlagraph-record-"))
    try:
        yield folder
    except BaseException:
        if any(folder.iterdir()):
            problem(f"the dumps are kept in {folder}")
        else:
            folder.rmdir()
        raise
    shutil.rmtree(folder)


def _check_graph(options: RecordOptions) -> None:
    """Open the graph briefly, so that an error shows before the program runs."""
    from xlagraph.graph import open_graph

    with open_graph(options.graph, create=True, ask_password=ask_password):
        pass


def _is_ingested(options: RecordOptions, folder: Path, name: str) -> bool:
    """Load the dumps; return whether there were any, without problems."""
    from xlagraph.ingest import IngestOptions, ingest

    tags = [f"{tag}={value}" for tag, value in parse_tags(options.tag or ())]
    chosen = IngestOptions(run=name, tags=tags, replace=options.replace)
    with open_graph_of(options, create=True) as graph, progress_bar() as progress:
        summary = ingest(graph, folder, chosen, progress=progress)
    write_summary(summary, [folder])
    return summary.ok


def _print_variables(variables: Mapping[str, str]) -> None:
    for name, value in variables.items():
        typer.echo(f"export {name}={shlex.quote(value)}")
