"""Open a graph: a location decides which engine it needs.

An engine is a module with a function `open_location`, imported when a location needs it.
"""

import os
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol, cast
from urllib.parse import urlsplit

from xlagraph.graph.engine import Graph
from xlagraph.graph.errors import GraphMissing, GraphUnreachable

DEFAULT_FILE: Final = "xlagraph.lbug"

_SERVER: Final = "xlagraph.graph.neo4j.engine"
_FILE: Final = "xlagraph.graph.ladybug.engine"
_DISTRIBUTIONS: Final[Mapping[str, str]] = {"ladybug": "ladybug", "neo4j driver": "neo4j"}

_SCHEMES: Final = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
# also matches a URI without its colon or slashes: it may contain a password, which would be
# shown if it were taken for a file name
_ANY_SCHEME: Final = re.compile(
    r"[a-z][a-z0-9+.-]*:/|(?:neo4j|bolt)(?:\+s(?:sc)?)?(?::|//)", re.IGNORECASE
)
# the only option for a cluster; the driver would accept any other name, too
_ROUTING: Final = re.compile(r"(?:policy=[\w.-]*)?", re.ASCII)


class _Engine(Protocol):
    def open_location(
        self,
        location: str,
        *,
        create: bool,
        wait: bool,
        ask_password: Callable[[str], str | None] | None,
        notify: Callable[[str], None],
    ) -> Graph: ...


def engine_versions() -> Mapping[str, str]:
    """Return the version of each engine by name, without loading the engine."""
    # this import takes 15 ms (email, socket), and no other command needs it
    from importlib.metadata import version

    return {name: version(distribution) for name, distribution in _DISTRIBUTIONS.items()}


def open_graph(
    location: str | Path | None = None,
    *,
    create: bool = False,
    wait: bool = True,
    ask_password: Callable[[str], str | None] | None = None,
    notify: Callable[[str], None] | None = None,
) -> Graph:
    """Open a graph file, or a Neo4j server by its URI.

    Without a location it is what ``XLAGRAPH_GRAPH``, else ``NEO4J_URI`` names, else
    ``xlagraph.lbug`` in the current folder. A server takes name, password and database from
    ``NEO4J_USERNAME``, ``NEO4J_PASSWORD`` and ``NEO4J_DATABASE``; without a password it is
    tried without one, then ``ask_password`` is called with the user's name.

    ``create`` allows a load to create a missing file; nothing else creates one.
    A load of a file raises GraphBusy while another process writes, or with ``wait`` calls
    ``notify`` and waits; a server ignores ``wait``.

    Raises `GraphMissing`, `GraphUnreachable`, `WrongSchema`, `GraphBusy`.
    """
    named = _named(location)
    if is_server_uri(named):
        check_uri(named)
    engine = cast("_Engine", import_module(_SERVER if is_server_uri(named) else _FILE))
    return engine.open_location(
        named,
        create=create,
        wait=wait,
        ask_password=ask_password,
        notify=notify or (lambda _: None),
    )


def _named(location: str | Path | None) -> str:
    if location is not None:
        if not str(location):
            raise GraphMissing("the name of the graph is empty; name a file or a neo4j:// URI")
        return str(location)
    return os.environ.get("XLAGRAPH_GRAPH") or os.environ.get("NEO4J_URI") or DEFAULT_FILE


def is_server_uri(location: str) -> bool:
    """Return True if a location is a server's URI, even a malformed one, and not a file."""
    return bool(_ANY_SCHEME.match(location))


def check_uri(uri: str) -> None:
    """Raise GraphUnreachable if a URI cannot be that of a server; its message holds no secret.

    The message of the driver would not help.
    """
    try:
        parts = urlsplit(uri)
        holds_secret = "@" in uri or parts.fragment or not _ROUTING.fullmatch(parts.query)
        port_fits = parts.port is None or parts.port > 0
    except ValueError:
        raise GraphUnreachable(
            "the URI of the graph cannot be read; expected neo4j://HOST:PORT"
        ) from None
    if holds_secret:
        raise GraphUnreachable(
            "the URI of the graph contains more than an address, perhaps a user or a password; "
            "name them in NEO4J_USERNAME and NEO4J_PASSWORD instead"
        )
    if not parts.scheme:
        raise GraphUnreachable("the URI of the graph has no colon; expected neo4j://HOST:PORT")
    if parts.scheme.lower() not in _SCHEMES:
        raise GraphUnreachable(
            f"{parts.scheme}:// is not a scheme of a graph; expected a file or one of "
            + ", ".join(f"{scheme}://" for scheme in _SCHEMES)
        )
    if not parts.hostname or not port_fits:
        raise GraphUnreachable(f"{uri} names no host and port; expected neo4j://HOST:PORT")
