"""Problems with a file or folder, as an ingest reports them."""

import os
from pathlib import Path
from typing import NamedTuple

__all__ = ["Problem", "readable"]


def readable(path: str | Path) -> str:
    r"""Return a path as text; bytes in it that are not UTF-8 become ``\xNN``."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class Problem(NamedTuple):
    """What is wrong with one file or folder, or worth a note."""

    file: str
    line: int | None
    """From 1; None where it is about the whole file."""
    message: str
    left_out: bool = True
    """It is not in the graph; False where it is named only."""

    def __str__(self) -> str:
        location = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{location}: {self.message}"
