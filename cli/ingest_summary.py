"""What `xlagraph ingest` says at its end."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xlagraph.cli.byte_sizes import human_bytes
from xlagraph.cli.messages import Verbosity, detail, error, note, problem, verbosity

if TYPE_CHECKING:
    from xlagraph.ingest import IngestSummary

_SHOWN = 20


def tell_summary(summary: "IngestSummary", paths: Sequence[Path], *, verb: str = "ingest") -> None:
    """Say on stderr what went in, what did not, and whether XLA's totals agree."""
    for item in summary.problems:
        problem(f"left out: {item}" if item.left_out else str(item))
    _tell_missing(summary)
    _tell_keys("replaced, for the content changed", summary.updated)
    _tell_keys("kept, though the files are gone", summary.gone)
    _tell_keys("dropped, for the files are gone", summary.dropped)
    for disagreement in summary.disagreeing:
        problem(
            f"{disagreement.compilation}: XLA says {disagreement.total_bytes} bytes,"
            f" its allocations add up to {disagreement.allocation_bytes}"
        )
    if summary.stopped:
        problem("stopped at the first problem, as --fail-fast asks")
    found = len(summary.added) + len(summary.updated) + len(summary.unchanged)
    if not found:
        where = ", ".join(str(path) for path in paths)
        error(
            f"nothing to {verb} below {where}"
            if summary.problems
            else f"no dumps below {where}; XLA writes them with --xla_dump_to=DIR in XLA_FLAGS"
        )
        return
    _tell_totals(summary, found, verb)


def _tell_totals(summary: "IngestSummary", found: int, verb: str) -> None:
    did = f"would {verb}" if summary.dry_run else f"{verb}ed"
    note(
        f"{did} {_count(found, 'compilation')} in {_count(len(summary.runs), 'run')}:"
        f" {len(summary.added)} added, {len(summary.updated)} replaced,"
        f" {len(summary.unchanged)} unchanged"
    )
    note(
        f"{_count(summary.values, 'value')}, {_count(summary.nodes, 'node')},"
        f" {_count(summary.relationships, 'relationship')};"
        f" {human_bytes(summary.bytes_read)} in {summary.seconds:.1f} s"
    )
    told = summary.agreeing + len(summary.disagreeing)
    silent = f"; {found - told} print none" if found > told else ""
    note(f"{summary.agreeing} of {told} agree with XLA's 'Total bytes used'{silent}")


def _tell_missing(summary: "IngestSummary") -> None:
    lacking = Counter(part for parts in summary.missing.values() for part in parts)
    for part, count in sorted(lacking.items()):
        note(f"no {part}: {_count(count, 'compilation')}")
    for compilation, parts in summary.missing.items():
        detail(f"{compilation}: no {', no '.join(parts)}")


def _tell_keys(what: str, keys: tuple[str, ...]) -> None:
    shown = keys if verbosity() is Verbosity.VERBOSE else keys[:_SHOWN]
    for key in shown:
        note(f"{what}: {key}")
    if len(keys) > len(shown):
        note(f"{what}: {len(keys) - len(shown)} more")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
