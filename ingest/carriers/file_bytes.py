"""Read plain and gzip-compressed files, up to a limit of the decompressed size."""

import errno
import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, BytesIO, FileIO
from pathlib import Path
from typing import BinaryIO, Final, cast

__all__ = ["MOST_UNPACKED_BYTES", "UNREADABLE", "begins_like_a_dump", "open_unpacked", "read_bytes"]

_HEADER: Final = b"BufferAssignment:"
_GZIP_MAGIC: Final = b"\x1f\x8b"
MOST_UNPACKED_BYTES: Final = 2**30  # a small compressed file can fill the memory
_SNIFFED_BYTES: Final = 512  # enough for the gzip header and the first line
UNREADABLE: Final = (OSError, EOFError, zlib.error)


def read_bytes(
    path: Path,
    start: int = 0,
    length: int | None = None,
    *,
    most_bytes: int = MOST_UNPACKED_BYTES,
) -> bytes:
    """Read a whole file, decompressed if it is gzip; or a range of its bytes, unchanged.

    Raises OSError if the file cannot be read, is not a regular file, or is larger than
    ``most_bytes`` when decompressed; EOFError or zlib.error if it cannot be decompressed.
    """
    with _open(path) as file:
        if length is not None:
            file.seek(start)
            return file.read(length)
        content = file.read()
    if not content.startswith(_GZIP_MAGIC):
        return content
    with gzip.GzipFile(fileobj=BytesIO(content)) as packed:
        unpacked = packed.read(most_bytes + 1)
    if len(unpacked) > most_bytes:
        limit = f"{most_bytes / 2**30:g} GiB"
        raise OSError(errno.EFBIG, f"it unpacks to more than {limit}; unpack it first")
    return unpacked


def _open(path: Path) -> FileIO:
    """Open a regular file without blocking on a pipe or device."""
    file = FileIO(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a file")
    return file


@contextmanager
def open_unpacked(path: Path) -> Iterator[tuple[BinaryIO, int | None]]:
    """Open a file for random access, decompressed if it is gzip; also yield its size, if known.

    Raises the same errors as `read_bytes`.
    """
    with _open(path) as raw, BufferedReader(raw) as file:
        if file.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC):
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield cast("BinaryIO", unpacked), None
        else:
            yield file, os.fstat(raw.fileno()).st_size


def begins_like_a_dump(path: Path) -> bool:
    """Return whether a file begins with the header of a dump; False if it cannot be read."""
    try:
        with _open(path) as file:
            start = file.read(_SNIFFED_BYTES)
        if start.startswith(_GZIP_MAGIC):
            start = zlib.decompressobj(wbits=31).decompress(start, _SNIFFED_BYTES)
    except UNREADABLE:
        return False
    return start.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n").startswith(_HEADER)
