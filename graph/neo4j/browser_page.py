"""Where a server serves Neo4j Browser, by its own settings."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

__all__ = ["SETTINGS_STATEMENT", "page_of_settings"]

SETTINGS_STATEMENT: Final = """
SHOW SETTINGS 'server.http.enabled', 'server.http.listen_address',
              'server.http.advertised_address', 'server.https.enabled',
              'server.https.listen_address', 'server.https.advertised_address'
YIELD name, value, isExplicitlySet
RETURN name, CASE WHEN name ENDS WITH 'advertised_address' AND NOT isExplicitlySet
                  THEN null ELSE value END AS value
"""
"""An advertised address that nobody set says localhost and the usual port, whatever is so."""


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
            address = f"[{host}]" if ":" in host else host
            return f"{scheme}://{address}:{port}/browser/"
    return None
