"""Bookmarks that outlive a process: what one command wrote, the next one reads.

A bookmark names a committed transaction. Of a cluster any server may answer, and some lag
behind; one that is given a bookmark waits until it has that transaction. Within a process the
driver hands them on; between processes they are kept in a file of the user's state folder.
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

_LAG_SECONDS: Final = 3600.0
"""A server that lags behind for longer is no use; a bookmark of a database that was restored
from an older backup makes the next command wait for half a minute, once."""


class StoredBookmarks:
    """The bookmarks of one database; there are none where a single server answers."""

    def __init__(self, uri: str, database: str) -> None:
        self._file: Path | None = None
        if uri.lower().startswith("neo4j"):
            name = hashlib.sha256(f"{uri.lower()} {database}".encode()).hexdigest()[:32]
            with suppress(RuntimeError):  # no home
                self._file = _state_folder() / "bookmarks" / f"{name}.json"

    def manager(self) -> BookmarkManager:
        """Return what hands bookmarks on in this process; it begins with the stored ones."""
        return neo4j.GraphDatabase.bookmark_manager(
            initial_bookmarks=neo4j.Bookmarks.from_raw_values(self._read())
        )

    def store(self, manager: BookmarkManager) -> None:
        """Store what was committed, as far as the folder can be written."""
        if self._file is None:
            return
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = self._file.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps(sorted(manager.get_bookmarks())), encoding="utf-8")
            new.replace(self._file)

    def forget(self) -> bool:
        """Delete the stored ones; return whether there were any."""
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
