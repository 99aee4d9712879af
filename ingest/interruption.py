"""Ctrl-C, which may end an ingest between two compilations but not inside one."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interruption"]


class Interruption:
    """Holds Ctrl-C back while something is handed over to the graph.

    The first one that comes then is kept in `came`; a second one is not held back, nor is
    anything outside the main thread, or where the program handles Ctrl-C in its own way.
    """

    def __init__(self) -> None:
        self.came = False
        """Whether one was held back."""
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

    def hold(self) -> None:
        """Hold Ctrl-C back from here."""
        self._is_held = True

    def release(self) -> None:
        """Let Ctrl-C raise KeyboardInterrupt from here."""
        self._is_held = False

    def _on_signal(self, _: int, __: FrameType | None) -> None:
        if self._is_held and not self.came:
            self.came = True
            return
        raise KeyboardInterrupt
