"""What an ingest did, what it left out, and how far it is."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

__all__ = ["Disagreement", "IngestSummary", "Problem", "Progress", "readable"]


def readable(path: str | Path) -> str:
    r"""Return a path as text; bytes in it that are not UTF-8 become ``\xNN``."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class Problem(NamedTuple):
    """Something about one file or folder that its owner should know."""

    file: str
    line: int | None
    """From 1; None where it is about the whole file."""
    message: str
    left_out: bool = True
    """It is not in the graph; False where it is named only."""

    def __str__(self) -> str:
        location = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{location}: {self.message}"


class Disagreement(NamedTuple):
    """A compilation whose allocations do not add up to what XLA prints."""

    compilation: str
    total_bytes: int
    allocation_bytes: int


class Progress(NamedTuple):
    """How far an ingest is; sizes as the files lie on disk.

    While a server writes, bytes count as done in the share that it has written.
    """

    bytes_done: int
    bytes_total: int
    compilations_done: int
    compilations_total: int
    file: str
    """The allocation file that was finished last."""


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """What one ingest did. Compilations are keys, in the order of runs and keys."""

    runs: tuple[str, ...]
    """Of which the graph has something now."""
    added: tuple[str, ...]
    updated: tuple[str, ...]
    """Same key, other content: replaced."""
    unchanged: tuple[str, ...]
    """Same content: not touched."""
    moved: tuple[str, ...]
    """Taken out, for their dump has another key now: it is among the others."""
    gone: tuple[str, ...]
    """In the graph though their files are gone."""
    dropped: tuple[str, ...]
    """Files gone, taken out because the caller asked for it."""
    problems: tuple[Problem, ...]
    agreeing: int
    """Compilations whose allocations add up to ``Total bytes used``, unchanged ones too."""
    disagreeing: tuple[Disagreement, ...]
    missing: Mapping[str, tuple[str, ...]]
    """Parts that a dump does not have, by compilation; of those read, not unchanged ones."""
    values: int
    """In the compilations that were added or updated; so are the next two."""
    nodes: int
    """Of all labels; what compilations share is counted once."""
    relationships: int
    bytes_read: int
    seconds: float
    dry_run: bool = False
    """Nothing was written: the rest says what would have been."""
    stopped: bool = False
    """Stopped at the first problem, as asked: the rest was not looked at."""

    @property
    def ok(self) -> bool:
        """Whether there was something to ingest, nothing was left out and totals agree."""
        found = self.added or self.updated or self.unchanged
        return bool(found) and not self.disagreeing and not any(p.left_out for p in self.problems)
