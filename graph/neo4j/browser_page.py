"""Where a server serves Neo4j Browser, by its own settings."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from xlagraph.graph.browser import page_address

__all__ = ["page_of_settings"]


def page_of_settings(values: Mapping[str, str | None], uri: str) -> str | None:
    """Return the address of Browser; None if the settings do not name it.

    What is not advertised is at the host of ``uri``.
    """
    for scheme in ("http", "https"):
        if values.get(f"server.{scheme}.enabled") != "true":
            continue
        listens = urlsplit(f"//{values.get(f'server.{scheme}.listen_address') or ''}")
        advertised = urlsplit(f"//{values.get(f'server.{scheme}.advertised_address') or ''}")
        host = advertised.hostname or urlsplit(uri).hostname or "localhost"
        # port 0 is any that was free
        if port := advertised.port or listens.port:
            return page_address(scheme, host, port)
    return None
