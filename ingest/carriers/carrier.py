"""The interface of an input format, which finds compilations in files and reads them.

An input format is a package below this folder, or a module in one. It fills a `Plan` and a
`Program`; a fact that it does not state is None or empty. `CARRIERS` in `ingest/files/discovery.py`
lists the formats, and discovery asks each of them how it is encoded.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from xlagraph.hlo.program import Program
from xlagraph.ingest.errors import Problem
from xlagraph.ingest.plan import Plan


class Part(NamedTuple):
    """A file with a part of a compilation, or a range of bytes in a larger file."""

    name: str
    """Name of the part: ``allocations``, ``module text``, …"""
    path: Path
    start: int = 0
    length: int | None = None
    """Length in bytes; None for the rest of the file."""
    content: bytes | None = None
    """Bytes of a part that is not a file; the path is then only a name for messages."""


@dataclass(frozen=True, slots=True)
class Source:
    """The files of one input format that contain one compilation."""

    carrier: str
    stem: str
    """Name of the compilation in its folder, spelled as in the file system."""
    parts: tuple[Part, ...]
    """Parts of the compilation; the required one is first."""

    def path(self, part: str) -> Path | None:
        """Return the file of a part; None if it does not exist."""
        return next((each.path for each in self.parts if each.name == part), None)


@dataclass(slots=True)
class Contents:
    """The bytes of one source, decompressed."""

    source: Source
    bytes_by_part: dict[str, bytes]
    problems: list[Problem] = field(default_factory=list)
    """Faults of optional parts: the compilation can be read without them."""

    def take(self, part: str) -> bytes | None:
        """Return the bytes of a part and release them; None if it does not exist."""
        return self.bytes_by_part.pop(part, None)


class Need(Enum):
    """The bytes of a remote file that must be read to find its compilations."""

    NOTHING = "its name is enough"
    START = "its first line"
    ALL = "all of it"


class Start(NamedTuple):
    """The first bytes of a part."""

    is_start: Callable[[bytes], bool]
    expected: str
    """Description of the expected bytes, for messages."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """A format in which compilations are stored, with its functions."""

    name: str
    find: Callable[[Path, Sequence[str], list[Problem]], list[Source]]
    """Return the compilations in the named files of a folder.

    Append a problem for each file that has the name of a compilation but cannot be used.
    """
    read: Callable[[Contents], tuple[Plan, Program]]
    """Return the plan and the program; raise ParseError or UnreadableDump."""
    missing: Callable[[], str | None] = lambda: None
    """Return how to install the packages required for reading; None if they are installed."""
    why_none: Callable[[Path], str | None] = lambda _: None
    """Return why a file with such a name contains no compilation; None for other names."""
    example: str | None = None
    """Name of a file with a compilation, for messages; None if there are no files."""
    endings: tuple[str, ...] = ()
    """Endings of the names of its files, without a packer's suffix."""
    is_dump: Callable[[str], bool] = lambda _: False
    """Return True for a dump's name, which is reported even if it is not a file."""
    needs: Callable[[str], Need] = lambda _: Need.NOTHING
    """Return how much of a file with this name `find` reads."""
    starts: Mapping[str, Start] = field(default_factory=dict)
    """Starts of its parts, by their names: a large file with another one is not read."""
    prints_instructions: bool = False
    """True if it has the text of instructions."""
