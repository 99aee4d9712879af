"""Reads the files of a dump, and notices when they are not what they should be."""

import hashlib
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from xlagraph.ingest.carriers.text.text import DumpPart
from xlagraph.ingest.errors import UnreadableDump
from xlagraph.ingest.files.discovery import DumpFiles
from xlagraph.ingest.files.file_bytes import read_bytes
from xlagraph.ingest.problems import Problem, readable

__all__ = ["DumpContents", "read_dump"]


@dataclass(slots=True)
class DumpContents:
    """The bytes of the files of one dump, unpacked."""

    files: DumpFiles
    sha256: str
    """Of all contents; the same whether a file is packed or not, and whatever its name."""
    size_bytes: int
    _contents: dict[Path, bytes]

    def take_parts(self) -> tuple[tuple[DumpPart, ...], list[Problem]]:
        """Return the texts of the dump proper and release their bytes; name empty companions.

        Raises `UnreadableDump` if one is not UTF-8 or the allocation file is empty.
        """
        files = self.files
        parts = []
        problems = []
        for path in (files.allocations, files.values, files.live_range):
            if path is not None:
                part = self._take_part(path)
                if part.rest or _CONTENT.search(part.text):
                    parts.append(part)
                elif path is files.allocations:
                    raise UnreadableDump(Problem(readable(path), None, _EMPTY))
                else:
                    problems.append(Problem(readable(path), None, _EMPTY))
        return tuple(parts), problems

    def take_module_text(self) -> str | None:
        """Return the module text and release its bytes; None if there is none."""
        path = self.files.module_text
        return None if path is None else self._take_part(path).joined().text or None

    def _take_part(self, path: Path) -> DumpPart:
        content = self._contents.pop(path)
        try:
            return DumpPart.decoded(readable(path), content)
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            unfit = content[error.start : error.start + 1].hex()
            message = f"expected UTF-8, found the byte 0x{unfit}"
            raise UnreadableDump(Problem(readable(path), line, message)) from None


_CONTENT: Final = re.compile("[^\ufeff\r\n]")
_EMPTY: Final = "the file is empty"


def read_dump(files: DumpFiles) -> DumpContents:
    """Read all files of a dump.

    Raises `UnreadableDump` if one cannot be read or changes meanwhile.
    """
    paths = [
        path
        for path in (files.allocations, files.values, files.live_range, files.module_text)
        if path is not None
    ]
    digest = hashlib.sha256()
    contents = {}
    before = [_version(path) for path in paths]
    for path in paths:
        try:
            content = read_bytes(path)
        except (EOFError, zlib.error) as error:
            problem = Problem(readable(path), None, f"cannot be unpacked: {error}")
            raise UnreadableDump(problem) from None
        except OSError as error:
            raise _cannot_be_read(path, error) from None
        part = _part_of(files, path)
        digest.update(f"{part} {len(content)}\n".encode())
        digest.update(content)
        contents[path] = content
    for path, version in zip(paths, before, strict=True):
        if _version(path) != version:
            message = "changed while it was read; ingest it again once it is complete"
            raise UnreadableDump(Problem(readable(path), None, message))
    size_bytes = sum(map(len, contents.values()))
    return DumpContents(files, digest.hexdigest(), size_bytes, contents)


def _part_of(files: DumpFiles, path: Path) -> str:
    parts = {
        files.allocations: "allocations",
        files.values: "values",
        files.live_range: "live range",
        files.module_text: "module text",
    }
    return parts[path]


def _version(path: Path) -> tuple[int, int, int]:
    """Return what distinguishes one state of a file: which file, how long, changed when."""
    try:
        status = path.stat()
    except OSError as error:
        raise _cannot_be_read(path, error) from None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _cannot_be_read(path: Path, error: OSError) -> UnreadableDump:
    reason = error.strerror or str(error)
    return UnreadableDump(Problem(readable(path), None, f"cannot be read: {reason}"))
