"""Repeat calls that fail because of the network."""

import random
from collections.abc import Callable
from threading import Event
from typing import Final, TypeVar

__all__ = ["MOST_TRIES", "StoreStopped", "repeated"]

MOST_TRIES: Final = 6
_FIRST_WAIT_SECONDS: Final = 0.1
"""First wait, doubled after each try: six tries wait about three seconds in total."""
_FINAL: Final = (
    FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, ImportError,
    NotImplementedError, TypeError, MemoryError,
)  # fmt: skip
"""Errors for which a retry is useless."""

Value = TypeVar("Value")


class StoreStopped(OSError):
    """Raised instead of a retry after a request to stop."""


def repeated(call: Callable[[], Value], stop: Event) -> Value:
    """Return the result of a call, which is repeated up to `MOST_TRIES` times if it fails.

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
        except Exception:  # noqa: BLE001 - each store has other network errors
            # jitter: many clients of one store must not retry at the same time
            stop.wait(wait * random.uniform(0.5, 1.5))  # noqa: S311
            wait *= 2
    if stop.is_set():
        raise StoreStopped("interrupted")
    return call()
