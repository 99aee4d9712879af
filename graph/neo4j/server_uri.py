"""URIs of servers: recognise and check them."""

import re
from typing import Final
from urllib.parse import urlsplit

from xlagraph.graph.errors import GraphUnreachable

__all__ = ["check_uri", "is_server_uri"]

_SCHEMES: Final = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
# also matches a URI without its colon or slashes: it may contain a password, which would be
# shown if it were taken for a file name
_ANY_SCHEME: Final = re.compile(
    r"[a-z][a-z0-9+.-]*:/|(?:neo4j|bolt)(?:\+s(?:sc)?)?(?::|//)", re.IGNORECASE
)
# the only option for a cluster; the driver would accept any other name, too
_ROUTING: Final = re.compile(r"(?:policy=[\w.-]*)?", re.ASCII)


def is_server_uri(location: str) -> bool:
    """Return True if a location is the URI of a server, even a malformed one, and not a file."""
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
        raise GraphUnreachable("the URI of the graph lacks a colon; expected neo4j://HOST:PORT")
    if parts.scheme.lower() not in _SCHEMES:
        raise GraphUnreachable(
            f"{parts.scheme}:// is not a scheme of a graph; expected a file or one of "
            + ", ".join(f"{scheme}://" for scheme in _SCHEMES)
        )
    if not parts.hostname or not port_fits:
        raise GraphUnreachable(f"{uri} names no host and port; expected neo4j://HOST:PORT")
