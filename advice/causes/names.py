"""One pattern for the names of several inputs, such as `params['layers'][*]['k']`."""

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["pattern_of"]

_PART: Final = re.compile(r"\[[^]]*\]|[^\[]+")
_SHOWN: Final = 3
"""Patterns that are written out."""


def pattern_of(names: Iterable[str]) -> str:
    """Return the names with `*` in place of the keys in which they differ.

    Names of other depths, or of other arguments, are listed.
    """
    groups: dict[tuple[str, int], list[list[str]]] = {}
    for name in dict.fromkeys(names):
        parts = _PART.findall(name) or [name]
        groups.setdefault((parts[0], len(parts)), []).append(parts)
    patterns = ["".join(map(_common, zip(*group, strict=True))) for group in groups.values()]
    text = " and ".join(patterns[:_SHOWN])
    left = len(patterns) - _SHOWN
    return f"{text} and {left} more" if left > 0 else text


def _common(keys: tuple[str, ...]) -> str:
    return keys[0] if len(set(keys)) == 1 else "[*]"
