"""Keys made from names, which may be too long for a server's index, and from call paths."""

import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple

from xlagraph.ingest.measures.source_places import CallPath

# Neo4j indexes up to 8,167 bytes; a character is up to 4, and the compilation's key precedes it.
_LONGEST: Final = 1000
_DIGEST_CHARACTERS: Final = 32
_CALLER_CHARACTERS: Final = 20  # 80 bits: no collision among billions of callers
_ORDER_CHARACTERS: Final = 6  # distinguishes functions whose lines have the same number


def bounded_key(name: str) -> str:
    """Return a name; if it is too long for a key, its beginning and a digest of the whole name."""
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - _DIGEST_CHARACTERS - 3]} <{_digest(name, _DIGEST_CHARACTERS)}>"


def bounded_keys(names: Sequence[str]) -> Sequence[str]:
    """Return the key of each name; the names themselves if all are short, which is usual."""
    if max(map(len, names), default=0) <= _LONGEST:
        return names
    return [bounded_key(name) for name in names]


class CallPathKeys(NamedTuple):
    """Keys and sort keys of call paths, in the order of the paths."""

    keys: tuple[str, ...]
    """Location and a digest of the caller's key: the same in all compilations."""
    tree_orders: tuple[str, ...]
    """Texts that sort a call tree: callers before callees, callees of one caller by line."""


def call_path_keys(paths: Sequence[CallPath]) -> CallPathKeys:
    """Return the keys of call paths; `paths` lists callers before callees."""
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
