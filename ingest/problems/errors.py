"""What the ingest of dumps raises.

ParseError        where a dump is not as XLA writes it
UnreadableDump    a file of a dump that cannot be read as a text
NoMemoryPlan      a compilation of this process that does not hold its plan
FlagsUnusable     where XLA_FLAGS leaves no way to dump into a folder
VersionUnknown    a version of a package that is not released
NotInstallable    an environment that cannot be made
ExtraMissing      a package that an address or a cluster needs is not installed
"""

from xlagraph.ingest.problems.problem import Problem

__all__ = [
    "ExtraMissing",
    "FlagsUnusable",
    "NoMemoryPlan",
    "NotInstallable",
    "ParseError",
    "UnreadableDump",
    "VersionUnknown",
]

_SHOWN_CHARACTERS = 80


class ParseError(Exception):
    """Raised where a dump does not fit: its line, what stands there and what was expected."""

    def __init__(self, file: str, line: int, text: str, expected: str) -> None:
        super().__init__(file, line, text, expected)
        self.file = file
        self.line = line
        """Counted from 1; one past the last line where the file ends too early."""
        self.text = text[:_SHOWN_CHARACTERS]
        """The line, cut at 80 characters; empty at the end of the file."""
        self.expected = expected

    @property
    def message(self) -> str:
        """What was expected and what stands there."""
        found = f"'{self.text}'" if self.text else "the end of the file"
        return f"expected {self.expected}, found {found}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class UnreadableDump(Exception):
    """Raised where a file of a dump is not there, not whole, or not a text."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


class NoMemoryPlan(ValueError):
    """Raised where a compilation of this process does not hold its plan: what to do instead."""


class FlagsUnusable(Exception):
    """Raised where ``XLA_FLAGS`` cannot be read, or does not dump into a folder."""


class VersionUnknown(Exception):
    """Raised if the package index does not have a version, or cannot be asked."""


class NotInstallable(Exception):
    """Raised if an environment cannot be made; the message is the installer's last line."""


class ExtraMissing(Exception):
    """Raised where a package of an extra is not installed; the message says how to install it."""
