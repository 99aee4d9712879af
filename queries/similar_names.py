"""Names that a user may have meant, where the one that was given is not there."""

from collections.abc import Sequence
from difflib import get_close_matches

__all__ = ["similar_names"]

_MOST = 5


def similar_names(name: str, names: Sequence[str]) -> list[str]:
    """Return up to five of ``names``, nearest first; all of them where they are no more."""
    containing = [candidate for candidate in names if name.lower() in candidate.lower()]
    close = get_close_matches(name, names, n=_MOST, cutoff=0.5)
    found = list(dict.fromkeys((*close, *containing)))[:_MOST]
    return found or (list(names) if len(names) <= _MOST else [])
