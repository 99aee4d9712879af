"""Errors that the ingest of dumps raises, and problems that it reports.

ParseError          a dump does not have the form that XLA writes
UnreadableDump      a file of a dump cannot be read
UnfitMessage        a protobuf message of a dump contradicts itself
NoMemoryPlan        a compilation of this process does not contain its plan
FlagsUnusable       XLA_FLAGS prevents dumping into a folder
VersionUnknown      a version of a package is not released
NotInstallable      an environment cannot be created
ExtraMissing        a package that an address or a cluster needs is not installed
ClusterUnreachable  a Ray cluster cannot be reached or started
"""

import os
import re
from pathlib import Path
from typing import Final, NamedTuple

_SHOWN_CHARACTERS = 80
_LONG_CHARACTERS = 10_000
"""A line that is longer may itself be the mistake, so its length is reported."""


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


class ParseError(Exception):
    """Raised if a dump does not parse: its line, the text found and what was expected."""

    def __init__(self, file: str, line: int, text: str, expected: str) -> None:
        super().__init__(file, line, text, expected)
        self.file = file
        self.line = line
        """Line number from 1; one past the last line if the file ends too early."""
        self.text = text[:_SHOWN_CHARACTERS]
        """The line, cut at 80 characters; empty at the file's end."""
        self.characters = len(text)
        """The length of the whole line."""
        self.expected = expected

    @property
    def message(self) -> str:
        """The message without its place: what was expected and what was found."""
        found = f"'{self.text}'" if self.text else "the end of the file"
        if self.characters > _LONG_CHARACTERS:
            found += f"… ({self.characters:,} characters)"
        return f"expected {self.expected}, found {found}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class UnreadableDump(Exception):
    """Raised if a file of a dump is missing, incomplete or not text."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


class UnfitMessage(ValueError):
    """Raised if a message is inconsistent; the text states what was expected and found."""


class NoMemoryPlan(ValueError):
    """Raised if a compilation of this process has no plan; the message names the fix."""


class FlagsUnusable(Exception):
    """Raised if ``XLA_FLAGS`` cannot be parsed, or does not dump into a folder."""


class VersionUnknown(Exception):
    """Raised if a version is not in the package index, or cannot be queried."""


class NotInstallable(Exception):
    """Raised if an environment cannot be created; the message is the installer's last line."""


class ExtraMissing(Exception):
    """Raised if a package of an extra is not installed; the message says how to install it."""


class ClusterUnreachable(ConnectionError):
    """Raised if a Ray cluster cannot be reached or started; the message names the fix."""
