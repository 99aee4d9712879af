"""Write the rows of a check: totals of compilations, and replayed temporary blocks."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from xlagraph.cli.output.destination import first_rows, write_rows
from xlagraph.cli.output.exit_codes import ExitCode
from xlagraph.cli.output.messages import note
from xlagraph.cli.output.shared_options import RowOptions
from xlagraph.graph.record_cells import record_row
from xlagraph.presentation.byte_sizes import counted, distinct_bytes

if TYPE_CHECKING:
    from xlagraph.advice.totals import CheckResult
    from xlagraph.planner.edits.replays import ReplayedBlock, ReplayedSchedule

_TOTALS: Final = (
    "run", "compilation", "totalBytes", "allocationBytes", "agrees",
    "reservedBytes", "logicalPeakBytes", "physicalPeakBytes",
)  # fmt: skip
_SHOWN: Final = ("run", "compilation", "agrees", "…", "allocationBytes", "logicalPeakBytes")
"""Columns of totals by importance."""
_SCHEDULES: Final = (
    *("compilation", "instructions", "computations", "schedulers", "closest"),
    *("computationsEqual", "rangesEqual"),
)
_REPLAYS: Final = (
    "compilation", "memorySpace", "memorySpaceName", "allocation",
    "tempBytes", "tempBytesReplayed", "offsetsEqual",
)  # fmt: skip


def write_totals(checked: "CheckResult", limit: int | None, options: RowOptions) -> None:
    """Write a row for each compilation."""
    rows = [record_row(totals, _TOTALS) for totals in checked.compilations]
    write_rows(_TOTALS, first_rows(rows, limit, options.format), options, _SHOWN)


def note_ranges(checked: "CheckResult") -> None:
    """Note how many compilations have no live ranges, and which derived ones are uncertain."""
    if count := len(checked.without_ranges):
        note(f"no schedule: {counted(count, 'compilation')} without live ranges, peaks and reuse")
    for totals in checked.uncertain:
        note(
            f"{totals.compilation}: XLA's heap trace contradicts its derived live ranges;"
            " do not trust its peaks, reuse and replays"
        )


def note_statistics(checked: "CheckResult") -> None:
    """Note each number of JAX's memory analysis that differs from the allocations."""
    for each in checked.statistics:
        note(
            f"{each.compilation}: JAX's memory analysis states {each.field} of"
            f" {each.stated_bytes} bytes, but the allocations that XLA counts for it add up to"
            f" {each.allocation_bytes}"
        )


def problems_of_totals(
    checked: "CheckResult", max_peak: int | None, max_reserved: int | None
) -> Iterator[tuple[ExitCode, str]]:
    """Yield each disagreement with XLA's totals and each exceeded limit, with its exit code."""
    for totals in checked.disagreeing:
        text = (
            f"{totals.compilation}: XLA prints a total of {totals.total_bytes} bytes, but its"
            f" allocations add up to {totals.allocation_bytes}"
        )
        yield ExitCode.FAILED, text
    if max_peak is not None:
        for totals in checked.without_peak:
            text = f"{totals.compilation}: the dump has no live ranges, so its peak is unknown"
            yield ExitCode.FAILED, text
        for totals in checked.peaking_above(max_peak):
            peak, limit = distinct_bytes(totals.physical_peak_bytes or 0, max_peak)
            yield ExitCode.GATE, f"{totals.compilation}: its peak, {peak}, is above {limit}"
    if max_reserved is not None:
        for totals in checked.reserving_more_than(max_reserved):
            reserved, limit = distinct_bytes(totals.reserved_bytes, max_reserved)
            yield ExitCode.GATE, f"{totals.compilation}: reserves {reserved}, more than {limit}"


def write_replays(
    blocks: Sequence["ReplayedBlock"], limit: int | None, options: RowOptions
) -> None:
    """Write a row for each temporary block, and the number that replays byte for byte."""
    rows = [record_row(block, _REPLAYS) for block in blocks]
    write_rows(_REPLAYS, first_rows(rows, limit, options.format), options)
    exact = sum(block.is_exact for block in blocks)
    note(f"{exact:,} of {counted(len(blocks), 'temporary block')} replay byte for byte")
    mixed = sum(block.values_of_other_spaces > 0 for block in blocks)
    if mixed:
        note(
            f"{counted(mixed, 'temporary block')} with values of another memory space: XLA packs"
            " them by rules that are not replayed"
        )


def write_schedules(
    schedules: Sequence["ReplayedSchedule"], limit: int | None, options: RowOptions
) -> None:
    """Write a row for each schedule, and the number that a scheduler of XLA makes."""
    rows = [record_row(each, _SCHEDULES) for each in schedules]
    write_rows(_SCHEDULES, first_rows(rows, limit, options.format), options)
    known = sum(bool(each.schedulers) for each in schedules)
    note(f"{known:,} of {counted(len(schedules), 'schedule')} are produced by a scheduler of XLA")
