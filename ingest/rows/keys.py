"""Keys made of names, which may be longer than a server's index takes."""

import hashlib
from collections.abc import Sequence
from typing import Final

__all__ = ["bounded_key", "bounded_keys"]

# Neo4j indexes up to 8,167 bytes; a character is up to 4, and the compilation's key goes before.
_LONGEST: Final = 1000
_DIGEST_CHARACTERS: Final = 32


def bounded_key(name: str) -> str:
    """Return a name, or its beginning with a digest of all of it if it is too long for a key."""
    if len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST_CHARACTERS]
    return f"{name[: _LONGEST - _DIGEST_CHARACTERS - 3]} <{digest}>"


def bounded_keys(names: Sequence[str]) -> Sequence[str]:
    """Return the key of each name; the names themselves if all are short, as in practice."""
    if max(map(len, names), default=0) <= _LONGEST:
        return names
    return [bounded_key(name) for name in names]
