"""The messages of `xlagraph ingest --watch` while it watches folders, and at its end."""

from datetime import datetime
from typing import TYPE_CHECKING, Final

from xlagraph.cli.output.messages import Verbosity, counted, note, problem, verbosity

if TYPE_CHECKING:
    from xlagraph.ingest import IngestSummary, Problem, WatchSummary

_MOST_KEYS: Final = 20


def write_ingested(summary: "IngestSummary") -> None:
    """Write a line with the time for each compilation that was added or replaced."""
    now = datetime.now().astimezone().strftime("%H:%M:%S")
    for verb, keys in (("added", summary.added), ("replaced", summary.updated)):
        shown = keys if verbosity() is Verbosity.VERBOSE else keys[:_MOST_KEYS]
        for key in shown:
            note(f"{now} {verb} {key}")
        if len(keys) > len(shown):
            note(f"{now} {verb} {len(keys) - len(shown)} more")


def write_problem(found: "Problem") -> None:
    """Write the problem with a file, which will be read again."""
    problem(f"left out for now: {found}" if found.left_out else str(found))


def write_watched(summary: "WatchSummary") -> None:
    """Write the totals, and the compilations whose files and graph differ."""
    for held in summary.held_back:
        problem(f"held back {held.compilation}: {held.reason}")
    note(
        f"watched in {counted(summary.looks, 'look')}: {summary.added} added,"
        f" {summary.updated} replaced, {summary.unchanged} unchanged,"
        f" {len(summary.held_back)} held back"
    )
