"""Records of the files that make a compilation, found on disk or listed from elsewhere."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from xlagraph.ingest.carriers.carrier import Source
from xlagraph.ingest.carriers.file_names import DumpName
from xlagraph.ingest.errors import Problem, readable


@dataclass(frozen=True, slots=True)
class DumpFiles:
    """The files of one compilation, and the facts in their names."""

    run: str
    run_path: str
    """Absolute path of the run's folder with links resolved; the address of a remote folder."""
    stem: str
    key: str
    """``run/stem``; unique among the dumps of one search."""
    other_key: str | None
    """For a dump in XLA's ``NAME/HOST_PID/`` folder, the key with (or without) that folder."""
    name: DumpName
    sources: tuple[Source, ...]
    """One source for each input format that has the compilation, the preferred one first."""
    size_bytes: int
    """Total size of the files on disk."""

    @property
    def path(self) -> Path:
        """The main file of the dump."""
        return self.sources[0].parts[0].path

    def file(self, part: str) -> Path | None:
        """Return the file of a part, from the first input format that has it."""
        found = (source.path(part) for source in self.sources)
        return next((path for path in found if path is not None), None)

    @property
    def place(self) -> tuple[str, int]:
        """Real path of the main file, and the offset of the compilation in it, in bytes."""
        return os.path.realpath(self.path), self.sources[0].parts[0].start


@dataclass(frozen=True, slots=True)
class FoundDumps:
    """The result of one search."""

    dumps: tuple[DumpFiles, ...]
    """The dumps, ordered by run and key."""
    problems: tuple[Problem, ...]
    searched: frozenset[str]
    """Paths of runs whose folders were searched completely: other files no longer exist."""

    @classmethod
    def together(cls, parts: "Iterable[FoundDumps]") -> "FoundDumps":
        """Join the results of several searches; a file that two of them find counts once."""
        dumps: dict[tuple[str, int], DumpFiles] = {}
        problems: dict[Problem, None] = {}
        searched: set[str] = set()
        for found in parts:
            for dump in found.dumps:
                dumps.setdefault(dump.place, dump)
            problems.update(dict.fromkeys(found.problems))
            searched |= found.searched
        return cls(tuple(dumps.values()), tuple(problems), frozenset(searched))


class DumpOrigin(NamedTuple):
    """Name and path that replace those of the searched folder."""

    name: str
    """Name of a run whose dumps are directly in the folder."""
    path: str
    """Absolute path with links resolved, or an address."""


def origin_of(root: Path) -> DumpOrigin:
    """Return the name and the real path of a folder."""
    name = Path(os.path.abspath(root)).name  # noqa: PTH100 - keep links
    return DumpOrigin(readable(name) or "/", readable(os.path.realpath(root)))


class Listing:
    """The names and sizes of the files below a folder."""

    def __init__(self, files: Iterable[tuple[Path, int]]) -> None:
        """Create a listing from paths with sizes in bytes."""
        self._sizes: dict[str, dict[str, int]] = defaultdict(dict)
        for path, size in files:
            self._sizes[str(path.parent)][path.name] = size

    def folders(self, root: Path) -> Iterator[tuple[Path, list[str]]]:
        """Yield each folder that has files, with their names; both sorted."""
        for folder in sorted(self._sizes, key=lambda folder: Path(folder).parts):
            if Path(folder).is_relative_to(root):
                yield Path(folder), sorted(self._sizes[folder])

    def holds(self, path: Path) -> bool:
        """Return whether a path is a file of the listing."""
        return path.name in self._sizes.get(str(path.parent), ())

    def size_bytes(self, path: Path) -> int:
        """Return a file's size; 0 if it is not in the listing."""
        return self._sizes.get(str(path.parent), {}).get(path.name, 0)
