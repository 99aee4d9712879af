"""Standard streams that are closed, full, or read by nobody: no reason to fail."""

import os
import sys
from typing import TextIO

__all__ = ["open_closed_streams", "send_nowhere"]


def open_closed_streams() -> None:
    """Let what the caller has closed (``>&-``) lead nowhere, before a file takes its number."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8")
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8")


def send_nowhere(stream: TextIO) -> None:
    """Drop what is left to be written to a stream, and all that follows."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
