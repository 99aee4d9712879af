"""Ctrl-C, which may end an ingest between two compilations but not inside one."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

__all__ = ["Interruption"]

Value = TypeVar("Value")


class Interruption:
    """Holds Ctrl-C back while something is handed over to the graph.

    The first one that comes then is kept in `has_occurred`; a second one is not held back, nor is
    anything outside the main thread, or where the program handles Ctrl-C in its own way. From
    the first value of `until_interrupted` on it is held back whenever none is waited for.
    """

    def __init__(self) -> None:
        self.has_occurred = False
        """Whether one has come."""
        self._is_held = False

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Handle Ctrl-C like this while the context lasts."""
        if (
            threading.current_thread() is not threading.main_thread()
            or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        ):
            yield
            return
        signal.signal(signal.SIGINT, self._on_signal)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def until_interrupted(self, values: Iterator[Value]) -> Iterator[Value]:
        """Yield values. Ctrl-C ends them while one is waited for, and is held back otherwise."""
        while True:
            try:
                self._is_held = False
                received = next(values, None)
                self._is_held = True
            except KeyboardInterrupt:
                self._is_held = self.has_occurred = True
            if self.has_occurred or received is None:
                return
            yield received
            del received  # it may be as large as the next

    def _on_signal(self, _: int, __: FrameType | None) -> None:
        if self._is_held and not self.has_occurred:
            self.has_occurred = True
            return
        raise KeyboardInterrupt
