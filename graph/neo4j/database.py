"""One database of a server, as sessions are opened on it."""

from dataclasses import dataclass

import neo4j
from neo4j.api import BookmarkManager


@dataclass(frozen=True, slots=True)
class ServerDatabase:
    """A database, and what has been committed there so far."""

    driver: neo4j.Driver
    name: str
    bookmarks: BookmarkManager

    def session(self) -> neo4j.Session:
        """Open a session that sees what any other of ours has committed, on every server."""
        return self.driver.session(database=self.name, bookmark_manager=self.bookmarks)
