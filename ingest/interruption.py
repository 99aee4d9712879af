"""Ctrl-C, which may end an ingest between two compilations but not inside one."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

__all__ = ["Interruption"]

Item = TypeVar("Item")


class Interruption:
    """Holds Ctrl-C back while something is handed over to the graph.

    The first one that comes then is kept in `came`; a second one is not held back, nor is
    anything outside the main thread, or where the program handles Ctrl-C in its own way. From
    the first item of `until_interrupted` on it is held back whenever none is waited for.
    """

    def __init__(self) -> None:
        self.came = False
        """Whether one came."""
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

    def until_interrupted(self, items: Iterator[Item]) -> Iterator[Item]:
        """Yield items. Ctrl-C ends them while one is waited for, and is held back otherwise."""
        while True:
            try:
                self._is_held = False
                received = next(items, None)
                self._is_held = True
            except KeyboardInterrupt:
                self._is_held = self.came = True
            if self.came or received is None:
                return
            yield received
            del received  # it may be as large as the next

    def _on_signal(self, _: int, __: FrameType | None) -> None:
        if self._is_held and not self.came:
            self.came = True
            return
        raise KeyboardInterrupt
