"""Rows about the start of the command, against importing typer alone."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from measure import median_seconds
from settings import Settings
from table import Row, ratio_row, skipped_row

REPEATS = 9


def rows(settings: Settings) -> Iterator[Row]:
    """Measure what every command pays before it does anything."""
    command = Path(sys.executable).with_name("xlagraph")
    if not command.exists():
        yield skipped_row("xlagraph --help", f"no {command.name} beside this Python")
        return
    reference = _seconds(settings, sys.executable, "-c", "import typer")
    for arguments, goal in ((["--help"], 2.0), (["query"], 3.0)):
        what = " ".join(["xlagraph", *arguments])
        try:
            seconds = _seconds(settings, str(command), *arguments)
        except subprocess.CalledProcessError as error:
            yield skipped_row(what, f"exit code {error.returncode}")
        else:
            yield ratio_row(what, seconds, "python -c 'import typer'", reference, goal)


def _seconds(settings: Settings, *command: str) -> float:
    return median_seconds(
        REPEATS,
        lambda: subprocess.run(command, check=True, capture_output=True, cwd=settings.work),
    )
