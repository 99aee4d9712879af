"""Recognise addresses of remote folders and files, and remove credentials from them."""

import re
from typing import Final
from urllib.parse import urlsplit, urlunsplit

# gs://bucket/runs   simplecache::s3://bucket/runs
_ADDRESS: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*::)*[a-z][a-z0-9+.-]+://.+", re.DOTALL)
_WEB: Final = ("http", "https")
_CONTAINER_AT_ACCOUNT: Final = ("abfs", "abfss", "az", "wasb", "wasbs")
"""Protocols with a container, not a user, before the @."""
_USER: Final = re.compile(r"((?!(?:abfss?|az|wasbs?)\b)\b[a-z][a-z0-9+.-]*://)[^\s/@'\"]*@")
_SIGNATURE: Final = re.compile(r"(https?://[^\s?'\"]+)\?[^\s'\"]*")


def is_address(text: object) -> bool:
    """Return whether a text names a file or folder by ``protocol://``."""
    return isinstance(text, str) and _ADDRESS.fullmatch(text) is not None


def without_credentials(address: str) -> str:
    """Return an address without user, password, signature and final slash."""
    if not is_address(address):
        return address
    chain, link, last = address.rpartition("::")
    parts = urlsplit(last)
    host = parts.netloc
    if parts.scheme not in _CONTAINER_AT_ACCOUNT:
        host = host.rpartition("@")[2]
    if parts.scheme in _WEB:
        last = urlunsplit((parts.scheme, host, parts.path, "", ""))
    else:
        last = last.replace(parts.netloc, host, 1)
    return chain + link + (last.rstrip("/") if not last.endswith("://") else last)


def without_secrets(message: str) -> str:
    """Return a message of a library without the credentials in its addresses."""
    return _SIGNATURE.sub(r"\1", _USER.sub(r"\1", message))


def address_name(address: str) -> str:
    """Return the last part of an address, which names the run or file."""
    return without_credentials(address).rstrip("/").rpartition("/")[2]
