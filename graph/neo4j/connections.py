"""Connections to a server: sessions, calls that Ctrl-C does not break, stored bookmarks.

A bookmark names a committed transaction. In a cluster any server may answer, and some lag behind;
a server that receives a bookmark waits until it has that transaction. The driver passes bookmarks
on within a process; a file in the user's state folder passes them to the next process.
"""

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import neo4j
from neo4j.api import BookmarkManager

from xlagraph.runtime.files import whole_file

_LAG_SECONDS: Final = 3600.0
"""Seconds to wait for a server that lags behind. A bookmark that is newer than a restored backup
costs one command this time."""


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


class StoredBookmarks:
    """The bookmarks of one database; a single server needs none."""

    def __init__(self, uri: str, database: str) -> None:
        self._file: Path | None = None
        if uri.lower().startswith("neo4j"):
            name = hashlib.sha256(f"{uri.lower()} {database}".encode()).hexdigest()[:32]
            with suppress(RuntimeError):  # no home folder
                self._file = _state_folder() / "bookmarks" / f"{name}.json"

    def manager(self) -> BookmarkManager:
        """Return the bookmark manager of this process, which starts with the stored bookmarks."""
        return neo4j.GraphDatabase.bookmark_manager(
            initial_bookmarks=neo4j.Bookmarks.from_raw_values(self._read())
        )

    def store(self, manager: BookmarkManager) -> None:
        """Store the bookmarks of committed transactions, if the folder is writable."""
        if self._file is None:
            return
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with whole_file(self._file) as new:
                new.write_text(json.dumps(sorted(manager.get_bookmarks())), encoding="utf-8")

    def forget(self) -> bool:
        """Delete the stored bookmarks; return True if there were any."""
        had_some = bool(self._read())
        if self._file is not None:
            with suppress(OSError):
                self._file.unlink(missing_ok=True)
        return had_some

    def _read(self) -> list[str]:
        if self._file is None:
            return []
        try:
            if time.time() - self._file.stat().st_mtime > _LAG_SECONDS:
                return []
            kept = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        return (
            [bookmark for bookmark in kept if isinstance(bookmark, str)]
            if isinstance(kept, list)
            else []
        )


def _state_folder() -> Path:
    named = os.environ.get("XDG_STATE_HOME")
    return (Path(named) if named else Path.home() / ".local" / "state") / "xlagraph"
