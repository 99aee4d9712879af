"""Find dumps in an archive, a packed file, or the log of XLA's dump to standard output."""

import os
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from xlagraph.ingest.errors import Problem, UnreadableDump, readable
from xlagraph.ingest.files.archives import unpack
from xlagraph.ingest.files.discovery import find_dumps
from xlagraph.ingest.files.dump_files import DumpOrigin, FoundDumps, origin_of
from xlagraph.runtime.files import ARCHIVE_ENDINGS, PACKED_SUFFIXES

STANDARD_INPUT: Final = Path("-")
_STDIN: Final = "stdin"
_SUFFIXES: Final = (*ARCHIVE_ENDINGS, *PACKED_SUFFIXES)


class UnpackedFolders(ExitStack):
    """Temporary folders into which archives are unpacked; they are removed at the end."""

    def __init__(self) -> None:
        super().__init__()
        self._origin_by_folder: dict[str, str] = {}

    def find_dumps(self, path: Path, run: str | None) -> FoundDumps:
        """Search a folder or file; ``-``, or a file that is not a dump, is unpacked first."""
        if path == STANDARD_INPUT:
            return self.find_unpacked(Path(_STDIN), run)
        named = self._origin_by_folder.get(str(path))
        found = find_dumps(path, run, origin=None if named is None else origin_of(Path(named)))
        if found.dumps or not path.is_file():
            return found
        unpacked = self.find_unpacked(path, run)
        return unpacked if unpacked.dumps or path.name.endswith(_SUFFIXES) else found

    def name_folders(self, folders: Iterable[str | Path], origin: Path) -> None:
        """Name folders of links after the folder that contains their files."""
        self._origin_by_folder.update({str(folder): readable(origin) for folder in folders})

    def name_origins(self, problem: Problem) -> Problem:
        """Return a problem with the archive's path in place of its temporary folder."""
        for folder, origin in self._origin_by_folder.items():
            if problem.file.startswith(folder):
                return problem._replace(file=origin + problem.file.removeprefix(folder))
        return problem

    def find_unpacked(
        self, path: Path, run: str | None, *, address: str | None = None
    ) -> FoundDumps:
        """Search the content of a packed file; ``address`` is its address if it was fetched."""
        folder = Path(self.enter_context(TemporaryDirectory(prefix="xlagraph-")))
        origin = address or readable(path)
        self._origin_by_folder[str(folder)] = origin
        try:
            if path == Path(_STDIN):
                left_out = unpack(sys.stdin.buffer, _STDIN, folder)
            else:
                with path.open("rb") as stream:
                    left_out = unpack(stream, path.name, folder, path.stat().st_size)
        except UnreadableDump as error:
            return FoundDumps((), (error.problem._replace(file=origin),), frozenset())
        except OSError as error:
            message = f"cannot be read: {error.strerror or error}"
            return FoundDumps((), (Problem(origin, None, message),), frozenset())
        place = address or readable(os.path.realpath(path))
        named = DumpOrigin(readable(_without_suffixes(path.name)), place)
        found = find_dumps(folder, run, origin=named)
        problems = [problem._replace(file=origin) for problem in left_out]
        problems += [self.name_origins(problem) for problem in found.problems]
        if not found.dumps and not problems:
            problems.append(Problem(origin, None, "contains no dump"))
        return FoundDumps(found.dumps, tuple(problems), found.searched)


def _without_suffixes(name: str) -> str:
    while suffix := next((each for each in _SUFFIXES if name.endswith(each)), ""):
        name = name.removesuffix(suffix)
    return name or _STDIN
