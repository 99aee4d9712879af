"""Write the summary of `xlagraph ingest`, and the progress of `--watch`."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from xlagraph.cli.output.messages import Verbosity, detail, error, note, problem, verbosity
from xlagraph.presentation.byte_sizes import counted, human_bytes

if TYPE_CHECKING:
    from xlagraph.ingest import IngestSummary, Problem, WatchSummary

_MOST_KEYS: Final = 20
_MOST_OF_KIND: Final = 5
"""Number of files named for the same note, if they are loaded."""
_MOST_LEFT_OUT: Final = 20
"""Number of files named for the same problem, if they are left out."""
_MOST_KINDS: Final = 50


def write_summary(
    summary: "IngestSummary", paths: Sequence[str | Path], *, verb: str = "ingest"
) -> None:
    """Write on stderr what was loaded, what was skipped, and whether XLA's totals agree."""
    _write_problems(summary)
    _write_missing(summary)
    _write_keys("replaced", summary.updated, "the content changed")
    _write_keys("removed", summary.moved, "its dump now has another key")
    _write_keys("kept", summary.gone, "its files no longer exist")
    _write_keys("removed", summary.dropped, "its files no longer exist")
    for disagreement in summary.disagreeing:
        problem(
            f"{disagreement.compilation}: XLA says {disagreement.total_bytes} bytes,"
            f" its allocations add up to {disagreement.allocation_bytes}"
        )
    if summary.stopped:
        problem("stopped at the first problem, as --fail-fast asks")
    found = len(summary.added) + len(summary.updated) + len(summary.unchanged)
    if not found:
        from xlagraph.ingest import NoDumps, why_no_dumps, without_credentials

        where = ", ".join(without_credentials(str(path)) for path in paths)
        folders = [path for path in paths if "://" not in str(path)]
        reason = why_no_dumps(folders) if folders else NoDumps.OTHER_FILES
        error(
            f"nothing to {verb} below {where}"
            if summary.problems
            else f"no dumps below {where}; {reason.value}"
        )
        return
    _write_totals(summary, found, verb)


def _write_problems(summary: "IngestSummary") -> None:
    count_by_kind: Counter[str] = Counter()
    is_all = verbosity() is Verbosity.VERBOSE
    for found in summary.problems:
        kind = found.message.partition(",")[0]  # the rest names the files of one dump
        kind = f"left out: {kind}" if found.left_out else kind
        count_by_kind[kind] += 1
        most = _MOST_LEFT_OUT if found.left_out else _MOST_OF_KIND
        if is_all or (count_by_kind[kind] <= most and len(count_by_kind) <= _MOST_KINDS):
            problem(f"left out: {found}" if found.left_out else str(found))
    if is_all:
        return
    for kind, count in list(count_by_kind.items())[:_MOST_KINDS]:
        most = _MOST_LEFT_OUT if kind.startswith("left out: ") else _MOST_OF_KIND
        if count > most:
            problem(f"{count - most} more: {kind} (--verbose names them)")
    others = sum(list(count_by_kind.values())[_MOST_KINDS:])
    if others:
        problem(f"{counted(others, 'other problem')} (--verbose names them)")


def _write_totals(summary: "IngestSummary", found: int, verb: str) -> None:
    did = f"would {verb}" if summary.dry_run else f"{verb}ed"
    note(
        f"{did} {counted(found, 'compilation')} in {counted(len(summary.runs), 'run')}:"
        f" {len(summary.added)} added, {len(summary.updated)} replaced,"
        f" {len(summary.unchanged)} unchanged{_left_out(summary)}"
    )
    note(
        f"{counted(summary.values, 'value')}, {counted(summary.nodes, 'node')},"
        f" {counted(summary.relationships, 'relationship')};"
        f" {human_bytes(summary.bytes_read)} in {summary.seconds:.1f} s"
    )
    with_total = summary.agreeing + len(summary.disagreeing)
    silent = f"; {found - with_total} print no total" if found > with_total else ""
    note(f"{summary.agreeing} of {with_total} agree with XLA's 'Total bytes used'{silent}")


def _left_out(summary: "IngestSummary") -> str:
    count = sum(1 for found in summary.problems if found.left_out)
    return f"; {counted(count, 'file')} left out" if count else ""


def _write_missing(summary: "IngestSummary") -> None:
    lacking = Counter(part for parts in summary.missing.values() for part in parts)
    for part, count in sorted(lacking.items()):
        note(f"no {part}: {counted(count, 'compilation')}")
    for compilation, parts in summary.missing.items():
        detail(f"{compilation}: no {', no '.join(parts)}")


def _write_keys(done: str, keys: tuple[str, ...], reason: str = "") -> None:
    why = f": {reason}" if reason else ""
    shown = keys if verbosity() is Verbosity.VERBOSE else keys[:_MOST_KEYS]
    for key in shown:
        note(f"{done} {key}{why}")
    if len(keys) > len(shown):
        note(f"{done} {len(keys) - len(shown)} more{why}")


def write_ingested(summary: "IngestSummary") -> None:
    """Write the compilations that were loaded, each on a line with the time."""
    now = datetime.now().astimezone().strftime("%H:%M:%S")
    _write_keys(f"{now} added", summary.added)
    _write_keys(f"{now} replaced", summary.updated)


def write_problem(found: "Problem") -> None:
    """Write a problem with a file, which will be read again later."""
    problem(f"left out for now: {found}" if found.left_out else str(found))


def write_watched(summary: "WatchSummary") -> None:
    """Write the summary of a watch, and the compilations that were held back."""
    for held in summary.held_back:
        problem(f"held back {held.compilation}: {held.reason}")
    note(
        f"watched in {counted(summary.looks, 'look')}: {summary.added} added,"
        f" {summary.updated} replaced, {summary.unchanged} unchanged,"
        f" {len(summary.held_back)} held back"
    )
