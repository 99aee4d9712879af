"""Rows about the start of the command, compared with importing only typer."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.measure import seconds_of
from benchmarks.settings import Settings
from benchmarks.table import Row, ratio_row, skipped_row

REPEATS = 9


def rows(settings: Settings) -> Iterator[Row]:
    """Measure the start time of every command."""
    command = Path(sys.executable).with_name("xlagraph")
    if not command.exists():
        yield skipped_row("xlagraph --help", f"no {command.name} next to this Python")
        return
    reference = _seconds(settings, sys.executable, "-c", "import typer")
    for arguments, goal in ((["--help"], 2.0), (["query"], 3.0)):
        what = " ".join(["xlagraph", *arguments])
        seconds = _seconds(settings, str(command), *arguments)
        yield ratio_row(what, seconds, "python -c 'import typer'", reference, goal)


def _seconds(settings: Settings, *command: str) -> float:
    def start_and_end() -> object:
        return subprocess.run(command, check=True, capture_output=True, cwd=settings.work)

    return median(seconds_of(start_and_end) for _ in range(REPEATS))
