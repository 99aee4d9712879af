"""Repeats what a network may spoil."""

import random
from collections.abc import Callable
from threading import Event
from typing import Final, TypeVar

__all__ = ["MOST_TRIES", "StoreStopped", "repeated"]

MOST_TRIES: Final = 6
_FIRST_WAIT_SECONDS: Final = 0.1
"""Doubled after each try: six tries wait about three seconds together."""
_FINAL: Final = (
    FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, ImportError,
    NotImplementedError, TypeError, MemoryError,
)  # fmt: skip
"""Errors that another try does not change."""

Value = TypeVar("Value")


class StoreStopped(OSError):
    """Raised in place of another try once nothing more is wanted."""


def repeated(call: Callable[[], Value], stop: Event) -> Value:
    """Return what a call returns; repeat it if it fails, up to `MOST_TRIES` times in all.

    Raises the error of the last try, and `StoreStopped` if ``stop`` is set between two tries.
    """
    wait = _FIRST_WAIT_SECONDS
    for _ in range(MOST_TRIES - 1):
        if stop.is_set():
            break
        try:
            return call()
        except _FINAL:
            raise
        except Exception:  # noqa: BLE001 - each store has its own errors of the network
            # jitter: many clients of one store do not come back at the same time
            stop.wait(wait * random.uniform(0.5, 1.5))  # noqa: S311
            wait *= 2
    if stop.is_set():
        raise StoreStopped("interrupted")
    return call()
