"""Files: packed with gzip, xz, bzip2 or Zstandard, and written completely or not at all."""

import bz2
import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, Final, cast

PACKED_SUFFIXES: Final = (".gz", ".xz", ".bz2", ".zst")
ARCHIVE_ENDINGS: Final = (
    ".zip", ".tar", ".tgz", ".txz", ".tbz2", *(f".tar{packed}" for packed in PACKED_SUFFIXES)
)  # fmt: skip
UNPACKING_ERRORS: Final = (EOFError, zlib.error, lzma.LZMAError)
"""Errors of damaged content in addition to OSError."""
_LONGEST_MAGIC: Final = 6


def unpacked_stream(stream: "BufferedReader[Any]") -> IO[bytes] | None:
    """Return the unpacked content of a stream, by its first bytes; None if it is not packed."""
    start = stream.peek(_LONGEST_MAGIC)
    if start.startswith(b"\x1f\x8b"):
        import gzip  # what only writes files does not need it

        return cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
    if start.startswith(b"\xfd7zXZ\x00"):
        return cast("IO[bytes]", lzma.LZMAFile(stream))
    if start.startswith(b"BZh"):
        return cast("IO[bytes]", bz2.BZ2File(stream))
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        import pyarrow as pa  # slow to import

        return cast("IO[bytes]", pa.CompressedInputStream(pa.PythonFile(stream), "zstd"))
    return None


def without_packing(name: str) -> str:
    """Return a file's name without a packer's suffix."""
    suffix = next((suffix for suffix in PACKED_SUFFIXES if name.endswith(suffix)), "")
    return name.removesuffix(suffix)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces a file if the block ends without an error."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield unfinished
        if path.exists():
            unfinished.chmod(path.stat().st_mode)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until the disk has what was written to a file, or the changed entries of a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
