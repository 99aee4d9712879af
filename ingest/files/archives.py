"""Unpack archives, packed files and dumps to standard output into a folder, within bounds.

The first bytes decide the format, layer by layer: gzip, xz, bzip2 and Zstandard are unpacked;
below them is a tar or zip archive, XLA's dump to standard output, or a single file. No member is
written outside of the folder, links and devices are skipped, and an archive that unpacks to far
more than its packed size is rejected.
"""

import errno
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BufferedReader, RawIOBase
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO, BinaryIO, Final, Self, cast

from xlagraph.ingest.carriers.file_bytes import has_dump_header
from xlagraph.ingest.errors import Problem, UnreadableDump, readable
from xlagraph.runtime.files import unpacked_stream, without_packing

_LEAST_BOUND: Final = 2**30
"""Number of bytes that any file may unpack to."""
_MOST_RATIO: Final = 100
"""Allowed ratio of unpacked to packed size above that bound; texts of dumps reach 30."""
_MOST_FILES: Final = 200_000
_CHUNK_BYTES: Final = 2**20
_SHOWN_CHARACTERS: Final = 200
_SNIFFED_BYTES: Final = 2**16
_TAR_MAGIC: Final = (257, b"ustar")
_ZIP_MAGIC: Final = b"PK\x03\x04"
_DUMP_ENDINGS: Final = ("-buffer-assignment.txt", ".pb")
# *** Begin module_0001.jit_f.txt ***, its content, and a line *** End …: XLA writes this with
# --xla_dump_to=-. The line break before the end is not content.
_BEGIN: Final = re.compile(rb"^\*\*\* Begin (?P<name>[^\r\n]+) \*\*\*\r?$", re.MULTILINE)
_END: Final = re.compile(rb"\*\*\* End (?P<name>[^\r\n]+) \*\*\*[\r\n]*")
_UNREADABLE: Final = (
    OSError, EOFError, lzma.LZMAError, zlib.error, tarfile.TarError, zipfile.BadZipFile,
    NotImplementedError, RuntimeError, ValueError,
)  # fmt: skip
_UNUSABLE_NAMES: Final = frozenset(
    {errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EILSEQ}
)
"""Errors of a path that only this member has."""


def unpack(
    stream: BinaryIO, name: str, folder: Path, packed_bytes: int | None = None
) -> tuple[Problem, ...]:
    """Unpack a stream, such as standard input, into a folder; return the skipped members.

    ``name`` is the file's name; a single file keeps it, without a packer's suffix. A
    stream of unknown packed size may unpack to one gibibyte. A damaged member is skipped, and so
    is the end of a damaged archive. Raises UnreadableDump if nothing can be unpacked.
    """
    target = _Target(folder, readable(name), packed_bytes)
    try:
        _unpack_layer(_buffered(stream), name, target)
    except _UNREADABLE as error:
        if not target.files or _is_of_disk(error):
            raise target.unreadable(f"cannot be unpacked: {error}") from error
        target.problems.append(Problem(target.source, None, f"its end cannot be unpacked: {error}"))
    return tuple(target.problems)


@dataclass(slots=True)
class _Target:
    """The folder that is filled, with counts of its contents."""

    folder: Path
    source: str
    packed_bytes: int | None
    unpacked_bytes: int = 0
    files: int = 0
    problems: list[Problem] = field(default_factory=list)

    def path_of(self, name: str) -> Path | None:
        """Return the path for a member; None, after recording a problem, if it is skipped."""
        member = PurePosixPath(name.replace("\\", "/"))
        parts = [part for part in member.parts if part != "."]
        # a colon may follow the letter of a drive
        if member.is_absolute() or ".." in parts or not parts or ":" in parts[0] or "\0" in name:
            self.leave_out(name, "its path is outside of the archive")
            return None
        if not name.isprintable():  # it would be the name of a run or a line of a log
            self.leave_out(name, "its name contains control characters")
            return None
        path = self.folder.joinpath(*parts)
        try:
            if path.exists():
                self.leave_out(name, "a second member of this name, the first is kept")
                return None
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if error.errno not in _UNUSABLE_NAMES:
                raise
            self.leave_out(name, f"it cannot be written: {error.strerror}")
            return None
        self.files += 1
        if self.files > _MOST_FILES:
            raise self.unreadable(f"contains more than {_MOST_FILES:,} files; unpack it first")
        return path

    def leave_out(self, name: str, reason: str) -> None:
        """Record a problem for a member that is skipped."""
        self.problems.append(Problem(self.source, None, f"{_shown(name)}: {reason}"))

    def write(self, path: Path, chunks: Iterable[bytes]) -> None:
        """Write a file; after an error, no part of it remains."""
        try:
            with path.open("wb") as file:
                for chunk in chunks:
                    file.write(chunk)
        except BaseException:
            path.unlink(missing_ok=True)
            self.files -= 1
            raise

    def count(self, size_bytes: int) -> None:
        """Count unpacked bytes; raises UnreadableDump above the limit."""
        self.unpacked_bytes += size_bytes
        most = max(_LEAST_BOUND, _MOST_RATIO * (self.packed_bytes or 0))
        if self.unpacked_bytes > most:
            size = "" if self.packed_bytes is None else f"its {self.packed_bytes:,} bytes "
            raise self.unreadable(f"{size}unpack to more than {most:,} bytes; unpack it first")

    def unreadable(self, message: str) -> UnreadableDump:
        """Return the error for the whole archive."""
        return UnreadableDump(Problem(self.source, None, message))


class _CountingReader(RawIOBase):
    """A reader that counts the bytes of a stream, and does not close it."""

    def __init__(self, content: IO[bytes], target: _Target | None) -> None:
        self._content = content
        self._target = target

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # any buffer
        chunk = self._content.read(len(buffer))
        buffer[: len(chunk)] = chunk
        if self._target is not None:
            self._target.count(len(chunk))
        return len(chunk)


def _buffered(content: IO[bytes], target: _Target | None = None) -> BufferedReader:
    """Return a stream with lookahead; the bytes read count as unpacked into the target."""
    return BufferedReader(cast("RawIOBase", _CountingReader(content, target)), _SNIFFED_BYTES)


def _unpack_layer(stream: BufferedReader, name: str, target: _Target) -> None:
    while (content := unpacked_stream(stream)) is not None:
        stream = _buffered(content, target)
        name = without_packing(name)
    start = stream.peek(_SNIFFED_BYTES)
    if start.startswith(_ZIP_MAGIC):
        _unpack_zip(stream, target)
    elif start.startswith(_TAR_MAGIC[1], _TAR_MAGIC[0]):
        _unpack_tar(stream, target)
    elif _BEGIN.search(start):
        _unpack_streamed_files(stream, target)
    elif not _could_be_dump(start, name):
        raise target.unreadable(
            "is not a dump: it does not begin with `BufferAssignment:`, and is neither an archive"
            " nor a log with `*** Begin … ***` in its first 64 KiB"
        )
    elif path := target.path_of(Path(name).name):
        target.write(path, _chunks(stream))


def _could_be_dump(start: bytes, name: str) -> bool:
    """Return whether a single file may be a dump, by its first bytes or by its name."""
    return not start or name.endswith(_DUMP_ENDINGS) or has_dump_header(start)


def _chunks(content: IO[bytes] | BufferedReader) -> Iterator[bytes]:
    return iter(lambda: content.read(_CHUNK_BYTES), b"")


def _unpack_tar(stream: BufferedReader, target: _Target) -> None:
    damaged: dict[str, None] = {}
    last = "its beginning"

    class Member(tarfile.TarInfo):
        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
            try:
                return super().frombuf(buf, encoding, errors)
            except tarfile.HeaderError:
                if any(buf):
                    damaged[last] = None
                raise

    # tarfile would end without a word at a damaged header; so it looks for the next one
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=Member, ignore_zeros=True) as archive:
        for member in archive:
            last = member.name
            # a sparse file may be far larger than its bytes in the archive
            is_plain = member.isreg() and not member.issparse()
            content = archive.extractfile(member) if is_plain else None
            if content is not None:
                if path := target.path_of(member.name):
                    try:
                        target.write(path, _chunks(content))
                    except _UNREADABLE as error:
                        # what follows in the stream cannot be found either
                        target.leave_out(member.name, f"cannot be unpacked: {error}")
                        raise
            elif not member.isdir():
                target.leave_out(member.name, "it is a link, a device or sparse")
    for name in damaged:
        target.leave_out(name, "what follows it has a damaged header")


def _unpack_zip(stream: BufferedReader, target: _Target) -> None:
    with TemporaryFile() as file:  # a zip is read from its end
        for chunk in _chunks(stream):
            file.write(chunk)
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                if not member.is_dir() and (path := target.path_of(member.filename)):
                    try:
                        with archive.open(member) as content:
                            target.write(path, _chunks(_buffered(content, target)))
                    except _UNREADABLE as error:
                        if _is_of_disk(error):
                            raise
                        target.leave_out(member.filename, _reason(error))


def _shown(name: str) -> str:
    """Return a name on one line, without its middle if it is long: its end says what it is."""
    shown = ascii(name)
    return shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[:80]}…{shown[-80:]}"


def _is_of_disk(error: Exception) -> bool:
    """Return True if files cannot be written or read; errors of packed content have no number."""
    return isinstance(error, OSError) and error.errno is not None


def _reason(error: Exception) -> str:
    if isinstance(error, RuntimeError) and "encrypted" in str(error):
        return "it is encrypted"
    return f"cannot be unpacked: {str(error) or type(error).__name__}"


def _unpack_streamed_files(stream: BufferedReader, target: _Target) -> None:
    lines = iter(lambda: stream.readline(_CHUNK_BYTES), b"")
    for file in _streamed_files(lines):
        path = target.path_of(file.name)
        if path is None:
            continue
        target.write(path, file.content())
        if not file.is_whole:
            problem = Problem(
                target.source, None, f"{file.name}: its end is missing", left_out=False
            )
            target.problems.append(problem)


class _StreamedFile:
    """One file of a stream; its content must be read before the next file."""

    def __init__(self, name: bytes, lines: Iterator[bytes]) -> None:
        self.name = name.decode(errors="replace")
        self.is_whole = False
        """True once the file's end was found."""
        self._end = name
        self._lines = lines

    def content(self) -> Iterator[bytes]:
        """Yield the content, in pieces."""
        line_break = b""
        for line in self._lines:
            if (end := _END.fullmatch(line)) and end["name"] == self._end:
                self.is_whole = True
                return
            text = line.removesuffix(b"\n")
            yield line_break + text
            line_break = line[len(text) :]


def _streamed_files(lines: Iterator[bytes]) -> Iterator[_StreamedFile]:
    """Yield the files of a stream; lines outside of files are skipped."""
    for line in lines:
        if found := _BEGIN.match(line.rstrip(b"\r\n")):
            file = _StreamedFile(found["name"], lines)
            yield file
            for _ in file.content() if not file.is_whole else ():
                pass
