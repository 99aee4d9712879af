"""The address of Neo4j Browser, and links that open a statement in it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

from xlagraph.graph.opening import check_uri, is_server_uri

MAX_CHARACTERS: Final = 16_000
"""A server rejects a request of more than 20 480 bytes, headers included."""

_LOCAL_SERVER: Final = "neo4j://localhost:7687"
_AURA_HOSTS: Final = ".databases.neo4j.io"
_AURA_PAGE: Final = "https://browser.neo4j.io/"
# the page splits its arguments after decoding them
_ENDS_AN_ARGUMENT: Final = str.maketrans({"&": r"\u0026", "#": r"\u0023"})


class LinkTooLong(ValueError):
    """A statement is too long for a link."""


@dataclass(frozen=True, slots=True)
class BrowserPage:
    """The first part of a link: the page and the database to connect to."""

    page: str
    server: str
    """URI of the server, with the user's name, as the page takes it."""
    database: str | None
    """None for the default database; Browser 5.24 cannot select another one on a server of 2026."""
    is_guess: bool = False
    """True if no server was named and this machine is assumed."""

    def link(self, statement: str) -> str:
        r"""Return the link that puts a statement into the page's editor, without running it.

        The statement may hold `&` and `#` only where Cypher or JSON reads an escape like
        `\u0026` for them. Raises LinkTooLong.
        """
        arguments = {
            "dbms": self.server,
            "cmd": "edit",
            "arg": statement.translate(_ENDS_AN_ARGUMENT),
        }
        if self.database is not None:
            arguments["db"] = self.database
        link = f"{self.page}?" + "&".join(
            f"{name}={quote(value, safe='')}" for name, value in arguments.items()
        )
        if len(link) > MAX_CHARACTERS:
            raise LinkTooLong(
                f"the link would have {len(link)} characters, and a server takes some"
                f" {MAX_CHARACTERS}"
            )
        return link


def browser_page(location: str | None = None, *, page: str | None = None) -> BrowserPage:
    """Return the links to the server named by a location or by the environment.

    Where that is a file or nothing, `NEO4J_URI` may still name one; else it is the server on
    this machine. ``page`` is the address of Browser; by default it is where a server puts it,
    or Aura's. Raises GraphUnreachable if the URI of the server cannot be one.
    """
    named = location or os.environ.get("XLAGRAPH_GRAPH") or ""
    given = next(filter(is_server_uri, (named, os.environ.get("NEO4J_URI", ""))), None)
    if given is not None:
        check_uri(given)
    uri = urlsplit(given or _LOCAL_SERVER)
    host = uri.hostname or ""
    is_encrypted = "+s" in uri.scheme
    # a page cannot be made to trust a certificate: only the user can tell the browser to
    scheme = uri.scheme.replace("+ssc", "+s")
    user = quote(os.environ.get("NEO4J_USERNAME") or "neo4j", safe="")
    return BrowserPage(
        page or _default_page(host, is_encrypted=is_encrypted),
        f"{scheme}://{user}@{_bracketed(host)}:{uri.port or 7687}",
        os.environ.get("NEO4J_DATABASE"),
        is_guess=given is None,
    )


def page_address(scheme: str, host: str, port: int) -> str:
    """Return the address at which a server serves Browser."""
    return f"{scheme}://{_bracketed(host)}:{port}/browser/"


def _default_page(host: str, *, is_encrypted: bool) -> str:
    if host.endswith(_AURA_HOSTS):
        return _AURA_PAGE
    return page_address("https", host, 7473) if is_encrypted else page_address("http", host, 7474)


def _bracketed(host: str) -> str:
    """Return a host as a URI spells it: IPv6 addresses in brackets."""
    return f"[{host}]" if ":" in host else host


def page_of_settings(values: Mapping[str, str | None], uri: str) -> str | None:
    """Return the address of Browser; None if the settings do not name it.

    Addresses without a host get the host of ``uri``.
    """
    for scheme in ("http", "https"):
        if values.get(f"server.{scheme}.enabled") != "true":
            continue
        listens = urlsplit(f"//{values.get(f'server.{scheme}.listen_address') or ''}")
        advertised = urlsplit(f"//{values.get(f'server.{scheme}.advertised_address') or ''}")
        host = advertised.hostname or urlsplit(uri).hostname or "localhost"
        # port 0 means any free port
        if port := advertised.port or listens.port:
            return page_address(scheme, host, port)
    return None
