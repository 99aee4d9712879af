"""`xlagraph oom`: explain an out-of-memory message."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from xlagraph.cli.output.declared_options import option
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import complete_run, open_graph_of, users_lines_of
from xlagraph.cli.output.messages import error, note, problem
from xlagraph.cli.output.shared_options import RowOptions, parse_path
from xlagraph.presentation.byte_sizes import counted

if TYPE_CHECKING:
    from xlagraph.advice.error_message import ErrorLog, Failure
    from xlagraph.graph import Graph
    from xlagraph.queries import FailedProgram


@dataclass(frozen=True)
class OomOptions(RowOptions):
    """Options of the command."""

    dumps: Path | None = option(
        "Search dumps for the program; a failed compilation writes them, too.",
        metavar="DIR",
        parser=parse_path,
    )
    run: str | None = option(
        "Search a run in the graph for the program.",
        metavar="RUN|COMPILATION",
        completion=complete_run,
    )
    snapshot: str | None = option(
        "Add the program to what was resident: a profile of JAX, or one stored by `resident`.",
        metavar="FILE|NAME",
    )


def oom(
    options: OomOptions,
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="A log with the message; - is stdin.")
    ] = "-",
) -> None:
    """Explain an out-of-memory message and what to change.

    Reads messages of XLA, JAX, PyTorch/XLA and TensorFlow on TPUs and GPUs, and skips other lines
    of the log. Explains the first failure and counts the others; XLA's warnings that its
    rematerialization missed a limit are explained only if nothing else failed.

    With --dumps or --run it finds the program and answers like `check --capacity` and `advise`.
    --snapshot then says how much it takes next to the arrays that were resident (see `resident`).

    Example: xlagraph oom train.log --dumps /tmp/dumps
    """
    from xlagraph.advice.error_message import Stage
    from xlagraph.cli.summaries.oom import write_failure_report

    if options.dumps is not None and options.run is not None:
        raise UsageError("--dumps and --run both name a place to search: give one of them")
    if options.snapshot is not None and options.dumps is None and options.run is None:
        raise UsageError("--snapshot adds to the program: give --dumps or --run, too")
    log = _read_log(file)
    if not log.failures:
        error(_no_failure(log, file))
        raise typer.Exit(ExitCode.FAILED)
    first, *others = sorted(log.failures, key=lambda each: each.stage is Stage.REMATERIALIZATION)
    program = _find_program(first, options)
    write_failure_report(first, others, program, options, options.dumps)
    if program is None and options.dumps is not None:
        raise typer.Exit(ExitCode.FAILED)


def _read_log(file: str) -> "ErrorLog":
    from xlagraph.advice.error_message import decoded_lines, read_error_log

    if file != "-":
        with Path(file).open("rb") as log:
            return read_error_log(decoded_lines(log))
    if sys.stdin.isatty():
        note("reading standard input; end it with Ctrl-D")
    return read_error_log(decoded_lines(sys.stdin.buffer))


def _no_failure(log: "ErrorLog", file: str) -> str:
    name = "standard input" if file == "-" else file
    if log.unknown is None:
        return (
            f"{name}: expected an out-of-memory message of XLA (RESOURCE_EXHAUSTED, Ran out of"
            f" memory …), found none in {counted(log.line_count, 'line')}"
        )
    number, text = log.unknown
    return (
        f"{name}:{number}: RESOURCE_EXHAUSTED, but not in a form that reports memory:"
        f" '{text.strip()[:80]}'"
    )


def _find_program(failure: "Failure", options: OomOptions) -> "FailedProgram | None":
    if options.dumps is None and options.run is None:
        return None
    from xlagraph.advice.error_message import Stage
    from xlagraph.cli.output.graph_and_queries import catalogue
    from xlagraph.queries import MessageClues, diagnose_failed_program

    named = (failure.instruction, *(each.instruction for each in failure.largest))
    clues = MessageClues(
        module=failure.module,
        instructions=tuple(name for name in named if name),
        op_names=tuple(each.op_name for each in failure.largest if each.op_name),
        requested_bytes=failure.requested_bytes,
        memory_space_name=failure.memory_space,
        capacity_bytes=None if failure.is_scoped else failure.capacity_bytes,
        allocated_bytes=failure.requested_bytes if failure.stage is Stage.ALLOCATOR else None,
    )
    names = [options.run] if options.run else []
    with _open_graph(options) as graph:
        if graph is None:
            return None
        found = diagnose_failed_program(graph, clues, names, catalogue=catalogue())
        if options.snapshot is not None:
            _note_snapshot(graph, found.compilation, clues.capacity_bytes, options.snapshot)
    for text in found.problems:
        problem(f"left out: {text}")
    return found


def _note_snapshot(
    graph: "Graph", compilation: str, capacity_bytes: int | None, snapshot: str
) -> None:
    from xlagraph.advice.device_memory import UnfitSnapshot
    from xlagraph.advice.snapshot_sum import add_snapshot

    try:
        note(add_snapshot(graph, compilation, snapshot, capacity_bytes).sentence)
    except (OSError, UnfitSnapshot) as failure:
        problem(str(failure))


@contextmanager
def _open_graph(options: OomOptions) -> "Iterator[Graph | None]":
    """Open the graph of the options, or a temporary graph of the dumps.

    Yield None if no dump could be loaded.
    """
    if options.dumps is None:
        with open_graph_of(options) as graph:
            yield graph
        return
    from xlagraph.cli.summaries.ingest import write_summary
    from xlagraph.graph import open_graph
    from xlagraph.ingest import ingest

    with (
        TemporaryDirectory(prefix="xlagraph-oom-") as folder,
        open_graph(Path(folder) / "dumps.lbug", create=True) as graph,
    ):
        summary = ingest(graph, options.dumps)
        write_summary(summary, [options.dumps])
        if not summary.added:
            yield None
            return
        with users_lines_of(options, graph) as chosen:
            yield chosen
