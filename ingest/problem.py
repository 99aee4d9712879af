"""Problems with a file or folder, as an ingest reports them."""

import os
import re
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["Problem", "readable"]


_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


def readable(path: str | Path) -> str:
    r"""Return a path as text; bytes in it that are not UTF-8 become ``\xNN``."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class Problem(NamedTuple):
    """An error in one file or folder, or a note about it."""

    file: str
    line: int | None
    """Line number from 1; None if the problem concerns the whole file."""
    message: str
    left_out: bool = True
    """True if the file is not ingested; False if the problem is only a note."""

    def __str__(self) -> str:
        location = self.file if self.line is None else f"{self.file}:{self.line}"
        # names of files and content of dumps must not look like other lines
        return _CONTROL.sub(_escaped, f"{location}: {self.message}")


def _escaped(control: re.Match[str]) -> str:
    return control.group().encode("unicode_escape").decode()
