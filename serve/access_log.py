"""Writes log lines in a thread, so that a reader that stands still delays nothing."""

import os
import threading
from contextlib import suppress
from queue import Full, Queue
from typing import Final

__all__ = ["LogLines"]

_MOST_WAITING: Final = 10_000
"""Lines that wait for the reader; further ones are lost, and their number is written."""
_END_SECONDS: Final = 1.0
"""Seconds for the last lines at the end of the service."""


class LogLines:
    """Lines for a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: Queue[str | None] = Queue(_MOST_WAITING)
        self._lost = 0
        self._thread = threading.Thread(target=self._write_lines, daemon=True)
        self._thread.start()

    def write(self, line: str) -> None:
        """Write a line later, or lose it if too many wait."""
        try:
            self._lines.put_nowait(line)
        except Full:
            self._lost += 1

    def close(self) -> None:
        """Write the lines that wait, as far as the reader takes them at once."""
        with suppress(Full):
            self._lines.put(None, timeout=_END_SECONDS)
        self._thread.join(_END_SECONDS)

    def _write_lines(self) -> None:
        while (line := self._lines.get()) is not None:
            lost, self._lost = self._lost, 0
            if lost:
                line = f"({lost} lines were dropped: they were not read in time)\n{line}"
            with suppress(OSError):  # nobody reads any more
                self._write(f"{line}\n".encode(errors="backslashreplace"))

    def _write(self, text: bytes) -> None:
        while text:
            # not through sys.stderr, whose lock would stop the program's end
            text = text[os.write(self._descriptor, text) :]
