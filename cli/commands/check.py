"""`xlagraph check`: XLA's totals against the graph's, and limits for CI."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from xlagraph.cli.exit_codes import ExitCode, UsageError
from xlagraph.cli.options.completion import complete_compilation
from xlagraph.cli.options.limits import Capacity, parse_bytes_limit, parse_capacity
from xlagraph.cli.options.open_graph import open_graph_of
from xlagraph.cli.options.shared_options import LimitOption, RowOptions
from xlagraph.cli.output.destination import first_rows, write_rows
from xlagraph.cli.output.messages import counted, note, problem
from xlagraph.graph.byte_sizes import distinct_bytes, human_bytes

if TYPE_CHECKING:
    from xlagraph.graph import Graph
    from xlagraph.queries.checks.totals import CheckResult

REPLAY_COLUMNS: Final = (
    *("compilation", "memorySpace", "memorySpaceName", "allocation"),
    *("tempBytes", "tempBytesReplayed", "offsetsEqual"),
)
COLUMNS: Final = (
    "run", "compilation", "totalBytes", "allocationBytes", "agrees",
    "reservedBytes", "logicalPeakBytes", "physicalPeakBytes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CheckOptions(RowOptions):
    """What the command takes, the last first."""

    replay: Annotated[
        bool, typer.Option("--replay", help="Pack each temporary block again, as XLA does.")
    ] = False
    limit: LimitOption = None
    capacity: Annotated[
        list[Capacity] | None,
        typer.Option(
            parser=parse_capacity,
            metavar="BYTES|SPACE=BYTES",
            help="Does it fit? Size of memory space 0, or of another: 1=128MiB; repeatable.",
        ),
    ] = None
    max_peak: Annotated[
        int | None,
        typer.Option(
            parser=parse_bytes_limit, metavar="BYTES", help="Highest physical peak allowed."
        ),
    ] = None
    max_reserved: Annotated[
        int | None,
        typer.Option(
            parser=parse_bytes_limit,
            metavar="BYTES",
            help="Most that a compilation may reserve: 16GiB.",
        ),
    ] = None


def check(
    options: CheckOptions,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN|COMPILATION", help="All by default.", autocompletion=complete_compilation
        ),
    ] = None,
) -> None:
    """Compare XLA's totals with the graph's, and both with limits; exit 4 if one is exceeded.

    --max-reserved and --max-peak look at memory space 0 of each compilation. --capacity shows
    for every memory space what is reserved, whether it fits, what is missing, and the first
    three things to change.

    --replay packs each temporary block again and shows whether its size and offsets are those
    of XLA; where they are not, do not trust `whatif`.

    Example: xlagraph check baseline --capacity 16GiB
    """
    from xlagraph.queries.checks.totals import check as check_graph

    if options.capacity and options.replay:
        raise UsageError("--capacity and --replay each have rows of their own: ask for one")
    with open_graph_of(options) as graph:
        checked = check_graph(graph, names or ())
        if options.capacity:
            code = _check_capacity(graph, names or (), options.capacity, options)
        elif options.replay:
            code = _check_replay(graph, names or (), options)
        else:
            code = ExitCode.DONE
            _write_totals(checked, options)
    code = max(code, _check_limits(checked, options))
    if code is not ExitCode.DONE:
        raise typer.Exit(code)


def _write_totals(checked: "CheckResult", options: CheckOptions) -> None:
    rows = [
        (
            *(totals.run, totals.compilation),
            *(totals.total_bytes, totals.allocation_bytes, totals.agrees, totals.reserved_bytes),
            *(totals.logical_peak_bytes, totals.physical_peak_bytes),
        )
        for totals in checked.compilations
    ]
    write_rows(COLUMNS, first_rows(rows, options.limit, options.format), options)


def _check_capacity(
    graph: "Graph", names: Sequence[str], capacities: Sequence[Capacity], options: CheckOptions
) -> ExitCode:
    from xlagraph.cli.options.own_queries import catalogue
    from xlagraph.cli.summaries.capacity import write_fit
    from xlagraph.queries.checks.capacity import (
        MOST_FINDINGS,
        check_capacity,
        diagnoses_where_lacking,
    )

    size_by_space = {capacity.memory_space: capacity.size_bytes for capacity in capacities}
    if len(size_by_space) < len(capacities):
        raise UsageError("--capacity names a memory space twice; give one size for each")
    spaces = check_capacity(graph, size_by_space, names)
    unused = sorted(size_by_space.keys() - {space.memory_space for space in spaces})
    if unused:
        note(f"nothing is allocated in memory space {', '.join(map(str, unused))}")
    diagnoses = diagnoses_where_lacking(graph, spaces, catalogue=catalogue())
    changes = {space: found.findings[:MOST_FINDINGS] for space, found in diagnoses.items()}
    write_fit(spaces, changes, options.limit, options)
    for text in dict.fromkeys(text for found in diagnoses.values() for text in found.problems):
        problem(f"left out: {text}")
    lacking = [space for space in spaces if space.fits is False]
    for space in lacking:
        problem(
            f"{space.compilation}: does not fit, {space.space_text} lacks"
            f" {human_bytes(space.missing_bytes or 0)}: it reserves"
            f" {human_bytes(space.reserved_bytes)} of {human_bytes(space.capacity_bytes or 0)}"
        )
    return ExitCode.GATE if lacking else ExitCode.DONE


def _check_replay(graph: "Graph", names: Sequence[str], options: CheckOptions) -> ExitCode:
    from xlagraph.queries.planning.replays import replay_blocks

    blocks = replay_blocks(graph, names)
    rows = [
        (
            *(block.compilation, block.memory_space, block.memory_space_name, block.allocation),
            *(block.temp_bytes, block.temp_bytes_replayed, block.offsets_equal),
        )
        for block in blocks
    ]
    write_rows(REPLAY_COLUMNS, first_rows(rows, options.limit, options.format), options)
    exact = sum(block.is_exact for block in blocks)
    note(f"{exact:,} of {counted(len(blocks), 'temporary block')} replay byte for byte")
    code = ExitCode.DONE
    for block in blocks:
        if not block.is_exact and not block.is_packed_by_another_method:
            code = ExitCode.FAILED
            problem(
                f"{block.compilation}: allocation {block.allocation} does not replay;"
                " what is planned anew for it is not to be trusted"
            )
    return code


def _check_limits(checked: "CheckResult", options: CheckOptions) -> ExitCode:
    code = ExitCode.DONE
    for totals in checked.disagreeing:
        code = ExitCode.FAILED
        problem(
            f"{totals.compilation}: XLA says {totals.total_bytes} bytes,"
            f" its allocations add up to {totals.allocation_bytes}"
        )
    if options.max_peak is not None:
        for totals in checked.without_peak:
            code = ExitCode.FAILED
            problem(f"{totals.compilation}: the dump has no live ranges, so its peak is unknown")
        for totals in checked.peaking_above(options.max_peak):
            code = ExitCode.GATE
            peak, limit = distinct_bytes(totals.physical_peak_bytes or 0, options.max_peak)
            problem(f"{totals.compilation}: its peak, {peak}, is above {limit}")
    if options.max_reserved is not None:
        for totals in checked.reserving_more_than(options.max_reserved):
            code = ExitCode.GATE
            reserved, limit = distinct_bytes(totals.reserved_bytes, options.max_reserved)
            problem(f"{totals.compilation}: reserves {reserved}, more than {limit}")
    return code
