"""The interface of a carrier: it finds compilations among files, and reads them.

A carrier is a package beside this module. It fills a `Plan` and a `Program`, with None or
nothing where it lacks a fact; no other package knows how it spells them. `discovery` lists
the carriers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from xlagraph.ingest.model.plan import Plan
from xlagraph.ingest.model.program import Program
from xlagraph.ingest.problems.problem import Problem

__all__ = ["Carrier", "Contents", "Part", "Source"]


class Part(NamedTuple):
    """A file, or a range of bytes in one that holds several compilations."""

    name: str
    """Which part of the compilation it is: ``allocations``, ``module text``, …"""
    path: Path
    start: int = 0
    length: int | None = None
    """Bytes; None for the rest of the file."""
    content: bytes | None = None
    """Of what is no file: the path is a name for messages then."""


@dataclass(frozen=True, slots=True)
class Source:
    """The files in which one carrier holds one compilation."""

    carrier: str
    stem: str
    """Name of the compilation in its folder, as the file system spells it."""
    parts: tuple[Part, ...]
    """The one without which there is no compilation first."""

    def path(self, part: str) -> Path | None:
        """Return the file of a part; None if there is none."""
        return next((each.path for each in self.parts if each.name == part), None)


@dataclass(slots=True)
class Contents:
    """The bytes of one source, unpacked."""

    source: Source
    bytes_by_part: dict[str, bytes]
    problems: list[Problem] = field(default_factory=list)
    """Faults of parts without which the compilation can be read."""

    def take(self, part: str) -> bytes | None:
        """Return the bytes of a part and release them; None if there is none."""
        return self.bytes_by_part.pop(part, None)


@dataclass(frozen=True, slots=True)
class Carrier:
    """One way in which compilations come."""

    name: str
    find: Callable[[Path, Sequence[str], list[Problem]], list[Source]]
    """Return the compilations that it holds among the named files of a folder.

    Append to the problems what is one by its name and cannot be taken.
    """
    read: Callable[[Contents], tuple[Plan, Program]]
    """Return plan and program; raise ParseError or UnreadableDump."""
    missing: Callable[[], str | None] = lambda: None
    """Return how to install what it reads with; None if it is there."""
    why_none: Callable[[Path], str | None] = lambda _: None
    """Return why a file of its names holds no compilation; None for other names."""
