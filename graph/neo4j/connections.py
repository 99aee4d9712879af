"""Connections to a server: sessions, calls that Ctrl-C does not break, errors of encryption."""

import ssl
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

import neo4j
from neo4j.api import BookmarkManager

from xlagraph.graph.errors import GraphUnreachable

__all__ = [
    "Outcome",
    "ServerDatabase",
    "call_uninterrupted",
    "encryption_error",
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


def encryption_error(error: BaseException, where: str) -> GraphUnreachable | None:
    """Return why a connection could not be encrypted; None for other errors."""
    cause = _cause(error)
    if cause is None:
        return None
    plain, _, rest = where.partition("://")
    plain = plain.partition("+")[0]
    if isinstance(cause, ssl.SSLCertVerificationError):
        return GraphUnreachable(
            f"the certificate of {where} is not trusted: {cause.verify_message}; name the file "
            f"of the authority that signed it in SSL_CERT_FILE, or, if you trust the network, "
            f"take any certificate with {plain}+ssc://{rest}"
        )
    return GraphUnreachable(
        f"{where} does not answer in TLS: {cause.reason or cause}; "
        f"without encryption it is {plain}://{rest}"
    )


def _cause(error: BaseException) -> ssl.SSLError | None:
    """Find the TLS error inside the errors and error groups of the driver."""
    left: list[BaseException | None] = [error]
    while left:
        found = left.pop()
        if isinstance(found, ssl.SSLError):
            return found
        if isinstance(found, BaseExceptionGroup):
            left.extend(found.exceptions)
        if found is not None:
            left.append(found.__cause__ or found.__context__)
    return None
