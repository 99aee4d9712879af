"""Write the progress and the summary of `xlagraph ingest --watch`."""

from datetime import datetime
from typing import TYPE_CHECKING, Final

from xlagraph.cli.output.messages import Verbosity, counted, note, problem, verbosity

if TYPE_CHECKING:
    from xlagraph.ingest import IngestSummary, Problem, WatchSummary

_MOST_KEYS: Final = 20


def write_ingested(summary: "IngestSummary") -> None:
    """Write the compilations that were loaded, each on a line with the time."""
    now = datetime.now().astimezone().strftime("%H:%M:%S")
    for verb, keys in (("added", summary.added), ("replaced", summary.updated)):
        shown = keys if verbosity() is Verbosity.VERBOSE else keys[:_MOST_KEYS]
        for key in shown:
            note(f"{now} {verb} {key}")
        if len(keys) > len(shown):
            note(f"{now} {verb} {len(keys) - len(shown)} more")


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
