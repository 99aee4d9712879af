"""Stored bookmarks, so that a command reads what the previous one wrote.

A bookmark names a committed transaction. In a cluster any server may answer, and some lag behind;
a server that receives a bookmark waits until it has that transaction. The driver passes bookmarks
on within a process; a file in the user's state folder passes them to the next process.
"""

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import neo4j
from neo4j.api import BookmarkManager

from xlagraph.runtime.whole_files import whole_file

_LAG_SECONDS: Final = 3600.0
"""Seconds to wait for a server that lags behind. A bookmark that is newer than a restored backup
costs one command this time."""


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
