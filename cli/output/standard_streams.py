"""Standard streams that are closed, full, or read by nobody: not a reason to fail."""

import os
import sys
from typing import TextIO

__all__ = ["discard", "open_closed_streams"]


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


def discard(stream: TextIO) -> None:
    """Drop what is left to be written to a stream, and all that follows."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
