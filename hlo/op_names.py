"""The scopes of an op name."""

from functools import lru_cache
from typing import Final

__all__ = ["scopes"]

_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")
_LONGEST: Final = 1000
"""Most characters of a scope: a name of one megabyte could have gigabytes of scopes."""


@lru_cache(maxsize=1 << 16)
def scopes(op_name: str) -> tuple[str, ...]:
    """Return every leading part of an op name, shortest first, the whole name last.

    Parts end at a ``/`` outside of brackets: ``jit(f)/a[b/c]/dot`` has the
    scopes ``jit(f)``, ``jit(f)/a[b/c]`` and itself. The position in the tuple, from 1, is
    the depth. Scopes longer than 1,000 characters are omitted, except the whole name.
    """
    if "/" not in op_name:
        return (op_name,)
    found = []
    nesting = 0
    for index, character in enumerate(op_name[: _LONGEST + 1]):
        if character == "/":
            if nesting == 0:
                found.append(op_name[:index])
        elif character in _OPENING:
            nesting += 1
        elif character in _CLOSING and nesting:
            nesting -= 1
    found.append(op_name)
    return tuple(found)
