"""`xlagraph check`: compare XLA's totals with the graph, and enforce limits in CI."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from xlagraph.cli.output.declared_options import flag, option
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import complete_compilation, open_graph_of
from xlagraph.cli.output.limits import Capacity, parse_bytes_limit, parse_capacity
from xlagraph.cli.output.messages import problem
from xlagraph.cli.output.shared_options import RowOptions, limit_option
from xlagraph.presentation.byte_sizes import human_bytes

if TYPE_CHECKING:
    from xlagraph.graph import Graph


@dataclass(frozen=True)
class CheckOptions(RowOptions):
    """Options of the command."""

    max_reserved: int | None = option(
        "Limit of the reserved bytes of each compilation, such as 16GiB.",
        metavar="BYTES",
        parser=parse_bytes_limit,
    )
    max_peak: int | None = option(
        "Limit of the physical peak of each compilation.", metavar="BYTES", parser=parse_bytes_limit
    )
    capacity: list[Capacity] | None = option(
        "Check if it fits. Size of memory space 0, or of another: 1=128MiB; repeatable.",
        metavar="BYTES|SPACE=BYTES",
        parser=parse_capacity,
    )
    limit: int | None = limit_option()
    resident: bool = flag("Add up programs that are loaded together: a lower bound.")
    shared: bool = flag("With --resident: arguments of one name are the same arrays in all runs.")
    snapshot: str | None = option(
        "Add a program to what was resident: a profile of JAX, or one stored by `resident`.",
        metavar="FILE|NAME",
    )
    replay: bool = flag("Pack each temporary block again, the way XLA does.")
    schedule: bool = flag("With --replay: show which scheduler of XLA makes each schedule.")


def check(
    options: CheckOptions,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN|COMPILATION", help="All by default.", autocompletion=complete_compilation
        ),
    ] = None,
) -> None:
    """Check totals and limits; exit with code 4 if one is exceeded.

    --max-reserved and --max-peak limit memory space 0 of each compilation. --capacity shows for
    every memory space the reserved bytes, whether they fit, how much is missing, and what to
    change: as many findings of `advise` as are needed to fit, replanned together. A sentence above
    the rows names memory that is not counted.
    --resident adds up programs that are loaded at the same time: arguments of one name and shape
    once for each run (with --shared once for all runs), constants of each, the largest temporaries
    and results. An upper bound counts all arguments. With --capacity it is a gate, too.
    --snapshot adds one program to the arrays that were resident when a profile of JAX was saved,
    from its file or stored with a run (see `resident`): those that it is passed count once. With
    --capacity it is a gate, too.

    --replay packs each temporary block again and shows whether size and offsets equal XLA's. If
    they differ, do not trust `whatif`. With --schedule it shows which of XLA's schedulers makes the
    order of the instructions, and whether the live ranges follow from it. If they do not, do not
    trust `order`.

    Example: xlagraph check baseline --capacity 16GiB
    """
    from xlagraph.advice.totals import check as check_graph
    from xlagraph.cli.summaries.checks import (
        note_ranges,
        note_statistics,
        problems_of_totals,
        write_totals,
    )

    if options.snapshot is not None and (options.replay or options.resident):
        raise UsageError("--snapshot adds up one program: give it without --replay and --resident")
    if options.replay and (options.capacity or options.resident):
        other = "--resident" if options.resident else "--capacity"
        raise UsageError(f"{other} and --replay print different rows: give one of them")
    if options.shared and not options.resident:
        raise UsageError("--shared says which arguments are the same: give --resident too")
    if options.schedule and not options.replay:
        raise UsageError("--schedule shows more of a replay: give --replay too")
    with open_graph_of(options) as graph:
        checked = check_graph(graph, names or ())
        if options.resident:
            code = _check_resident(graph, names or (), options)
        elif options.snapshot is not None:
            code = _check_snapshot(graph, names or (), options, options.snapshot)
        elif options.capacity:
            code = _check_capacity(graph, names or (), options)
        elif options.schedule:
            code = _check_schedules(graph, names or (), options)
        elif options.replay:
            code = _check_replay(graph, names or (), options)
        else:
            code = ExitCode.DONE
            write_totals(checked, options.limit, options)
    note_ranges(checked)
    note_statistics(checked)
    for failure, text in problems_of_totals(checked, options.max_peak, options.max_reserved):
        code = max(code, failure)
        problem(text)
    if code is not ExitCode.DONE:
        raise typer.Exit(code)


def _sizes(capacities: Sequence[Capacity]) -> dict[int, int]:
    """Return the size of each memory space."""
    size_by_space = {capacity.memory_space: capacity.size_bytes for capacity in capacities}
    if len(size_by_space) < len(capacities):
        raise UsageError("--capacity names a memory space twice; give one size for each")
    return size_by_space


def _check_capacity(graph: "Graph", names: Sequence[str], options: CheckOptions) -> ExitCode:
    from xlagraph.advice.capacity import changes_where_lacking, check_capacity
    from xlagraph.advice.rescue_limits import rescue_limits
    from xlagraph.cli.output.graph_and_queries import catalogue
    from xlagraph.cli.summaries.capacity import write_fit

    spaces = check_capacity(graph, _sizes(options.capacity or ()), names)
    changes = changes_where_lacking(graph, spaces, catalogue=catalogue())
    tightest = next((space for space in spaces if space.memory_space == 0), None)
    limits = (
        rescue_limits(graph, [tightest.compilation], tightest.capacity_bytes)
        if tightest is not None and tightest.capacity_bytes is not None
        else ()
    )
    write_fit(spaces, changes, limits, options.limit, options)
    for text in dict.fromkeys(text for each in changes for text in each.problems):
        problem(f"left out: {text}")
    lacking = [space for space in spaces if space.fits is False]
    for space in lacking:
        problem(
            f"{space.compilation}: does not fit, {space.space_text} is"
            f" {human_bytes(space.missing_bytes or 0)} short: it reserves"
            f" {human_bytes(space.reserved_bytes)} of {human_bytes(space.capacity_bytes or 0)}"
        )
    return ExitCode.GATE if lacking else ExitCode.DONE


def _check_resident(graph: "Graph", names: Sequence[str], options: CheckOptions) -> ExitCode:
    from xlagraph.advice.resident import check_resident
    from xlagraph.cli.summaries.capacity import write_resident

    spaces = check_resident(graph, names, _sizes(options.capacity or ()), is_shared=options.shared)
    write_resident(spaces, options.limit, options)
    lacking = [space for space in spaces if space.fits is False]
    for space in lacking:
        problem(
            f"{space.space_text} is at least {human_bytes(space.missing_bytes or 0)} short:"
            f" together they need {human_bytes(space.least_bytes)} or more"
            f" of {human_bytes(space.capacity_bytes or 0)}"
        )
    return ExitCode.GATE if lacking else ExitCode.DONE


def _check_snapshot(
    graph: "Graph", names: Sequence[str], options: CheckOptions, snapshot: str
) -> ExitCode:
    from xlagraph.advice.device_memory import UnfitSnapshot
    from xlagraph.advice.snapshot_sum import add_snapshot
    from xlagraph.cli.summaries.capacity import write_snapshot

    if len(names) > 1:
        raise UsageError("--snapshot adds up one program: name one")
    capacity = _sizes(options.capacity or ()).get(0)
    try:
        found = add_snapshot(graph, next(iter(names), None), snapshot, capacity)
    except (OSError, UnfitSnapshot) as failure:
        problem(str(failure))
        return ExitCode.FAILED
    write_snapshot(found, options)
    if found.fits is False:
        problem(f"{found.compilation}: does not fit next to what is resident on {found.device}")
    return ExitCode.GATE if found.fits is False else ExitCode.DONE


def _check_replay(graph: "Graph", names: Sequence[str], options: CheckOptions) -> ExitCode:
    from xlagraph.cli.summaries.checks import write_replays
    from xlagraph.planner.edits.replays import replay_blocks

    blocks = replay_blocks(graph, names)
    write_replays(blocks, options.limit, options)
    differing = [
        block for block in blocks if not block.is_exact and not block.is_packed_by_another_method
    ]
    for block in differing:
        problem(
            f"{block.compilation}: allocation {block.allocation} does not replay;"
            " do not trust what is replanned for it"
        )
    return ExitCode.FAILED if differing else ExitCode.DONE


def _check_schedules(graph: "Graph", names: Sequence[str], options: CheckOptions) -> ExitCode:
    from xlagraph.cli.summaries.checks import write_schedules
    from xlagraph.planner.edits.replays import replay_schedules

    schedules = replay_schedules(graph, names)
    write_schedules(schedules, options.limit, options)
    differing = [each for each in schedules if not each.ranges_equal]
    for each in differing:
        problem(
            f"{each.compilation}: the live ranges do not follow from the schedule;"
            " do not trust what is replanned for another order"
        )
    return ExitCode.FAILED if differing else ExitCode.DONE
