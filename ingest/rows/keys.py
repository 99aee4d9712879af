"""Keys made of names, which may be longer than a server's index takes, and of call paths."""

import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple

from xlagraph.ingest.measures.call_paths import CallPath

__all__ = ["CallPathKeys", "bounded_key", "bounded_keys", "call_path_keys"]

# Neo4j indexes up to 8,167 bytes; a character is up to 4, and the compilation's key goes before.
_LONGEST: Final = 1000
_DIGEST_CHARACTERS: Final = 32
_CALLER_CHARACTERS: Final = 20  # 80 bits: no two callers alike among billions
_ORDER_CHARACTERS: Final = 6  # distinguishes functions on lines of one number


def bounded_key(name: str) -> str:
    """Return a name, or its beginning with a digest of all of it if it is too long for a key."""
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - _DIGEST_CHARACTERS - 3]} <{_digest(name, _DIGEST_CHARACTERS)}>"


def bounded_keys(names: Sequence[str]) -> Sequence[str]:
    """Return the key of each name; the names themselves if all are short, as in practice."""
    if max(map(len, names), default=0) <= _LONGEST:
        return names
    return [bounded_key(name) for name in names]


class CallPathKeys(NamedTuple):
    """What call paths are known and sorted by, aligned with them."""

    keys: tuple[str, ...]
    """Own location and a digest of the caller's key: the same in all compilations."""
    tree_orders: tuple[str, ...]
    """Sort a tree of calls: callers before what they call, those of one caller by line."""


def call_path_keys(paths: Sequence[CallPath]) -> CallPathKeys:
    """Return the keys of call paths, callers before those that they call."""
    keys: list[str] = []
    tree_orders: list[str] = []
    for path in paths:
        key = bounded_key(path.location)
        order = f"{path.frame.line or 0:07}{_digest(key, _ORDER_CHARACTERS)}"
        if path.caller is not None:
            key = f"{key} <{_digest(keys[path.caller], _CALLER_CHARACTERS)}>"
            order = f"{tree_orders[path.caller]}/{order}"
        keys.append(key)
        tree_orders.append(order)
    return CallPathKeys(tuple(keys), tuple(tree_orders))


def _digest(text: str, characters: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:characters]
