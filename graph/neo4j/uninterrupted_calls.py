"""Calls of the driver that Ctrl-C does not break.

KeyboardInterrupt is raised in the main thread, wherever that is. In the middle of a message it
leaves a connection that the driver goes on to use: one in five waited for ever or failed oddly.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Outcome = TypeVar("Outcome")


def call_uninterrupted(call: Callable[[], Outcome]) -> Outcome:
    """Make a call in a thread of its own, so that Ctrl-C ends the wait for it and not the call."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    outcome: Future[Outcome] = Future()

    def make() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # noqa: BLE001  raised again by who waits
            outcome.set_exception(error)

    threading.Thread(target=make, name="xlagraph-call", daemon=True).start()
    return outcome.result()
