"""`xlagraph record`: run a program, and load the dumps of its compilations."""

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from xlagraph.cli.output.declared_options import flag, option
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import ask_password, open_graph_of
from xlagraph.cli.output.messages import error, note, problem, progress_bar
from xlagraph.cli.output.shared_options import (
    GraphOptions,
    categories_option,
    parse_categories,
    parse_path,
    parse_tags,
    run_name_option,
    tag_option,
)
from xlagraph.cli.summaries.ingest import write_summary
from xlagraph.presentation.byte_sizes import counted

if TYPE_CHECKING:
    from xlagraph.graph import Graph
    from xlagraph.recording import ProcessDumps


class RecordedSchedule(StrEnum):
    """The order of instructions in which a recorded program is compiled."""

    DEFAULT = "default"
    MEMORY = "memory"


@dataclass(frozen=True)
class RecordOptions(GraphOptions):
    """Options of the command."""

    run: str | None = run_name_option("Name of the run. (default: the script's name and the time)")
    tag: list[str] | None = tag_option()
    categories: Path | None = categories_option()
    replace: bool = flag("Replace what was recorded under this name, the runs NAME-1, … too.")
    dumps: Path | None = option(
        "Keep the dump files that an ingest reads, in a new or empty folder.",
        metavar="DIR",
        parser=parse_path,
    )
    schedule: RecordedSchedule = option(
        "Order of instructions that JAX programs are compiled with: `memory` saves memory on CPUs"
        " and GPUs, often at the cost of time.",
        default=RecordedSchedule.DEFAULT,
    )
    no_ingest: bool = flag("Only dump; do not load into the graph.")
    print_only: bool = flag("Print the environment for a shell; run nothing.", "--print")


def record(
    options: RecordOptions,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND", help="The program and its arguments."),
    ] = None,
) -> None:
    """Run a program and load its memory plans.

    Only the program's environment changes: flags are added to XLA_FLAGS, and JAX's compilation
    cache is disabled. Dumps are written to a temporary folder, or to the folder in
    XLA_FLAGS or --dumps, separately for each Python process. They are loaded even if the program
    fails; `record` ends with its exit code. Processes with different dumps become runs NAME-1,
    NAME-2, …; processes with equal plans are one run, with their number in its tags.

    Example: xlagraph record --run baseline -- python train.py
    """
    from xlagraph.recording import (
        OverwrittenDumps,
        process_variables,
        recording_name,
        run_program,
    )

    parse_tags(options.tag or ())  # errors in tags and categories show before the program runs
    parse_categories(options.categories)
    saves_memory = options.schedule is RecordedSchedule.MEMORY
    if options.print_only:
        with _dump_folder(options) as folder:
            _print_variables(process_variables(folder, os.environ, saves_memory=saves_memory))
        return
    command = _checked(command)
    name = options.run or recording_name(command, datetime.now(UTC))
    if not options.no_ingest:
        _check_graph(options, name)
    with _dump_folder(options) as folder:
        variables = process_variables(folder, os.environ, saves_memory=saves_memory)
        note(f"recording run {name}: XLA dumps to {folder}")
        started = _clock_of_files(folder)
        overwritten = OverwrittenDumps(folder, started)
        code = run_program(command, variables, look=overwritten.look)
        is_kept = _is_kept(options, folder, name, started, code)
        if overwritten.names:
            is_kept = False
            error(
                f"the dumps of {counted(len(overwritten.names), 'module')} were overwritten by"
                " another process: processes that ignore PYTHONPATH, such as `python -E`, share"
                " one folder; record each of them alone"
            )
        if code and is_kept:
            place = f"--dumps {folder}" if options.no_ingest else f"--run {name}"
            note(f"exit code {code}; if memory ran out: xlagraph oom LOG {place}")
        if not is_kept:
            raise typer.Exit(code or ExitCode.FAILED)
    if code:
        raise typer.Exit(code)


def _checked(command: "list[str] | None") -> list[str]:
    """Return the command if it can be run; raise UsageError with what to type instead."""
    if not command:
        raise UsageError("expected a program, as in `record -- python train.py`; found none")
    first = command[0]
    if shutil.which(first) is not None:
        return command
    if first.startswith("-"):
        raise UsageError(
            f"no option of `record` is called {first}; the program and its arguments follow `--`:"
            " xlagraph record --run NAME -- python train.py"
        )
    if Path(first).is_file():
        raise UsageError(
            f"'{first}' is not executable: chmod +x {shlex.quote(first)}, or run"
            f" xlagraph record -- python {shlex.quote(first)}"
        )
    raise UsageError(
        "expected a program, as in `record -- python train.py`;"
        f" found '{first}', which does not exist"
    )


@contextmanager
def _dump_folder(options: RecordOptions) -> Iterator[Path]:
    """Yield the folder for dumps: from XLA_FLAGS, from --dumps, or a temporary one."""
    from xlagraph.recording import dump_folder_in_flags, new_dump_folder, temporary_dump_folder

    flagged = dump_folder_in_flags(os.environ)
    if flagged is not None and options.dumps is not None:
        raise UsageError(f"XLA_FLAGS already dumps to {flagged}: remove that flag or --dumps")
    if flagged is not None:
        if not options.print_only:
            flagged.mkdir(parents=True, exist_ok=True)
        yield flagged
    elif options.dumps is not None and options.print_only:
        yield options.dumps.absolute()
    elif options.dumps is not None:
        yield new_dump_folder(options.dumps.absolute())
    elif options.print_only or options.no_ingest:
        raise UsageError("--print and --no-ingest require --dumps DIR, the folder for the dumps")
    else:
        with temporary_dump_folder(lambda kept: problem(f"the dumps are kept in {kept}")) as folder:
            yield folder


def _check_graph(options: RecordOptions, name: str) -> None:
    """Open the graph and look for the run, so that an error shows before the program runs."""
    from xlagraph.graph import NameTaken, check_run_name, open_graph

    check_run_name(name)
    with open_graph(options.graph, create=True, ask_password=ask_password) as graph:
        if not options.replace and (taken := _recorded_runs(graph, name)):
            raise NameTaken(f"the run {taken[0]} exists already; use another --run, or --replace")


def _recorded_runs(graph: "Graph", name: str) -> list[str]:
    """Return the runs called NAME, or NAME-1, NAME-2, … if they are of one process each."""
    from xlagraph.queries import list_runs
    from xlagraph.recording import is_of_process

    of_process = re.compile(re.escape(name) + r"-[0-9]+")
    stored = [(str(run), str(path)) for run, path, *_ in list_runs(graph).rows]
    return [
        run
        for run, path in stored
        if run == name or (of_process.fullmatch(run) and is_of_process(path))
    ]


def _clock_of_files(folder: Path) -> float:
    """Return now, in seconds since the epoch, on the clock that sets a file's time of change.

    That clock runs in steps of milliseconds, behind ``time.time()``.
    """
    with NamedTemporaryFile(dir=folder) as file:
        return Path(file.name).stat().st_mtime


def _is_kept(
    options: RecordOptions, folder: Path, name: str, started: float, exit_code: int
) -> bool:
    """Load the dumps of each process, unless --no-ingest; return False after a problem."""
    from xlagraph.recording import (
        dump_folder_in_flags,
        modules_from_cache,
        move_up,
        recorded_processes,
        remove_descriptions,
        remove_unread_files,
        why_nothing_was_recorded,
    )

    with TemporaryDirectory(prefix="xlagraph-links-") as links:
        groups = recorded_processes(folder, started, Path(links))
        if not groups:
            why = why_nothing_was_recorded(folder, exit_code, os.environ.get("XLA_FLAGS", ""))
            error(f"no dumps: {why}")
            return False
        if cached := modules_from_cache(folder):
            named = f"{', '.join(cached[:5])}{', …' if cached[5:] else ''}"
            problem(
                f"not recorded: {counted(len(cached), 'module')} that JAX's compilation cache"
                f" contained ({named}); run the program without jax_compilation_cache_dir"
            )
        is_flagged = dump_folder_in_flags(os.environ) is not None
        is_only = len(groups) == 1 and groups[0].folder.parent == folder
        if is_only and not is_flagged:
            groups = (move_up(groups[0], folder),)
        all_well = True
        names = [name] if len(groups) == 1 else [f"{name}-{n}" for n in range(1, len(groups) + 1)]
        if len(groups) > 1 or groups[0].processes > 1:
            _note_processes(groups, names)
        if not options.no_ingest:
            all_well = _are_ingested(options, groups, names, folder)
        if is_only and is_flagged:
            move_up(groups[0], folder)
        remove_descriptions(folder)
        if options.dumps is not None:
            remove_unread_files(folder)
    return all_well


def _note_processes(groups: "Sequence[ProcessDumps]", names: Sequence[str]) -> None:
    for group, run in zip(groups, names, strict=True):
        equal = " with equal plans" if group.processes > 1 else ""
        note(f"run {run}: {group.processes} process{'es' if group.processes > 1 else ''}{equal}")


def _are_ingested(
    options: RecordOptions, groups: "Sequence[ProcessDumps]", names: Sequence[str], recording: Path
) -> bool:
    """Load the dumps of each group as a run; return whether there were no problems.

    With --replace, other runs of an earlier recording of this name are removed.
    """
    from xlagraph.graph import remove_runs

    with open_graph_of(options, create=True) as graph:
        earlier = _recorded_runs(graph, options.run) if options.replace and options.run else []
        are_well = [
            _is_ingested(graph, options, group, run, recording)
            for group, run in zip(groups, names, strict=True)
        ]
        old = sorted({*earlier} - {*names})
        if all(are_well) and old:
            remove_runs(graph, old)
            note(f"removed {', '.join(old)}, which --replace replaces")
    return all(are_well)


def _is_ingested(
    graph: "Graph", options: RecordOptions, group: "ProcessDumps", name: str, recording: Path
) -> bool:
    """Load the dumps of processes with equal plans; return whether there were no problems."""
    from xlagraph.ingest import IngestOptions, ingest

    tags = [f"{tag}={value}" for tag, value in parse_tags(options.tag or ())]
    if group.processes > 1:
        tags.append(f"processes={group.processes}")
    chosen = IngestOptions(
        run=name,
        tags=tags,
        replace=options.replace,
        categories=parse_categories(options.categories),
    )
    with progress_bar() as progress:
        is_of_links = recording not in (group.folder, *group.folder.parents)
        origin = recording if is_of_links else None
        summary = ingest(graph, group.folder, chosen, progress=progress, origin=origin)
    write_summary(summary, [origin or group.folder])
    return summary.ok


def _print_variables(variables: Mapping[str, str]) -> None:
    for name, value in variables.items():
        typer.echo(f"export {name}={shlex.quote(value)}")
