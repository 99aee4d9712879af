"""Standard streams: whether somebody reads them; closed or full ones are not a reason to fail."""

import os
import sys
from typing import TextIO

__all__ = ["discard", "is_interactive", "open_closed_streams"]


def open_closed_streams() -> None:
    """Open what the caller has closed (``>&-``) on the null device, before a file is opened."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8")
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8")


def is_interactive() -> bool:
    """Return whether a question would be seen and answered."""
    # a stream that the caller closed is None
    streams: tuple[TextIO | None, ...] = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


def discard(stream: TextIO) -> None:
    """Drop what is left to be written to a stream, and all that follows."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
