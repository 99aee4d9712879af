"""Connections to a server: sessions, and calls that Ctrl-C does not break."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

import neo4j
from neo4j.api import BookmarkManager

__all__ = [
    "Outcome",
    "ServerDatabase",
    "call_uninterrupted",
]


@dataclass(frozen=True, slots=True)
class ServerDatabase:
    """A database, with the bookmarks of what was committed there."""

    driver: neo4j.Driver
    name: str
    bookmarks: BookmarkManager

    def session(self) -> neo4j.Session:
        """Open a session that sees all commits of our other sessions, on every server."""
        return self.driver.session(database=self.name, bookmark_manager=self.bookmarks)


Outcome = TypeVar("Outcome")


def call_uninterrupted(call: Callable[[], Outcome]) -> Outcome:
    """Call the driver in a separate thread, so that Ctrl-C ends only the wait.

    KeyboardInterrupt is raised in the main thread, wherever that is. In the middle of a message it
    leaves a connection that the driver goes on to use: one in five waited for ever or failed oddly.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    outcome: Future[Outcome] = Future()

    def make() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # noqa: BLE001  raised again in the waiting thread
            outcome.set_exception(error)

    threading.Thread(target=make, name="xlagraph-call", daemon=True).start()
    return outcome.result()
