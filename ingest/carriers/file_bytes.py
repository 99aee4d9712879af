"""Read plain and packed files, up to a limit of the unpacked size."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, BytesIO, FileIO
from pathlib import Path
from typing import BinaryIO, Final, cast

from xlagraph.runtime.files import UNPACKING_ERRORS, unpacked_stream

_HEADER: Final = b"BufferAssignment:"
MOST_UNPACKED_BYTES: Final = 2**30  # a small compressed file can fill the memory
_SNIFFED_BYTES: Final = 512
_SMALL_BYTES: Final = 2**20
UNREADABLE: Final = (OSError, *UNPACKING_ERRORS)


def read_bytes(path: Path, start: int = 0, length: int | None = None) -> bytes:
    """Read a whole file, unpacked if it is packed; or a range of its bytes, unchanged.

    Raises OSError if the file cannot be read, is not a regular file, or is larger than
    a gibibyte when unpacked; one of UNREADABLE if it cannot be unpacked.
    """
    with _open(path) as raw, BufferedReader(raw) as file:
        if length is not None:
            file.seek(start)
            return file.read(length)
        stream = unpacked_stream(file)
        if stream is None:
            return file.read()
        with stream:
            unpacked = stream.read(MOST_UNPACKED_BYTES + 1)
    if len(unpacked) > MOST_UNPACKED_BYTES:
        limit = f"{MOST_UNPACKED_BYTES / 2**30:g} GiB"
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
    """Open a file for random access, unpacked if it is packed; also yield its size, if known.

    Raises the same errors as `read_bytes`.
    """
    with _open(path) as raw, BufferedReader(raw) as file:
        stream = unpacked_stream(file)
        if stream is None:
            yield file, os.fstat(raw.fileno()).st_size
        elif stream.seekable():
            with stream:
                yield cast("BinaryIO", stream), None
        else:
            with stream:
                yield BytesIO(stream.read(MOST_UNPACKED_BYTES)), None


def begins_like_a_dump(path: Path) -> bool:
    """Return whether a file begins with a dump's header; False if it cannot be read."""
    try:
        with _open(path) as raw, BufferedReader(raw) as file:
            return has_dump_header((unpacked_stream(file) or file).read(_SNIFFED_BYTES))
    except UNREADABLE:
        return False


def start_of_large_file(path: Path) -> bytes | None:
    """Return the first MiB of an unpacked file; None if it is smaller.

    Small files are not read: a parser reports what is wrong with them, and where.
    """
    with _open(path) as raw, BufferedReader(raw) as file:
        packed = unpacked_stream(file)
        if packed is None and os.fstat(raw.fileno()).st_size <= _SMALL_BYTES:
            return None
        start = (packed or file).read(_SMALL_BYTES)
    return start if len(start) == _SMALL_BYTES else None


def has_dump_header(start: bytes) -> bool:
    """Return whether the first bytes of a file are those of an allocation file."""
    return start.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n").startswith(_HEADER)
