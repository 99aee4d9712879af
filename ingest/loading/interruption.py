"""Handle Ctrl-C so that it ends an ingest between two compilations, not inside one."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

Value = TypeVar("Value")


class Interruption:
    """A delay of Ctrl-C while rows are being written to the graph.

    The first Ctrl-C during that time only sets `has_occurred`; a second one interrupts at once.
    Nothing is delayed outside the main thread, or if the program has its own handler of Ctrl-C.
    Once `until_interrupted` has yielded a value, Ctrl-C is delayed except while it waits for the
    next one.
    """

    def __init__(self) -> None:
        self.has_occurred = False
        """True after a Ctrl-C."""
        self._is_held = False

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Install the handler of Ctrl-C for the duration of the context."""
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
        """Yield values until Ctrl-C, which is delayed unless this waits for the next value."""
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
