"""The places that an instruction's metadata names: op names, source files, call stacks."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

__all__ = ["StackFrame", "acyclic_callers", "is_installed", "scopes"]

_INSTALLED: Final = re.compile(
    r"(?:^|[/\\])(?:site|dist)-packages[/\\]|[/\\]lib/python3\.|^<frozen "
)
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")
_LONGEST: Final = 1000
"""Most characters of a scope: a name of one megabyte could have gigabytes of scopes."""


class StackFrame(NamedTuple):
    """A source location from which an instruction comes, and its caller."""

    function: str | None
    file: str | None
    line: int | None
    column: int | None
    caller: int | None
    """Number of the calling frame; None for the outermost."""


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


def is_installed(file: str) -> bool:
    """Return whether a source file belongs to an installed package or to Python itself."""
    return _INSTALLED.search(file) is not None


def acyclic_callers(callers: Mapping[int, int | None]) -> dict[int, int | None]:
    """Return the caller of each frame; None if it is missing or creates a cycle."""
    found = {frame: caller if caller in callers else None for frame, caller in callers.items()}
    acyclic: set[int] = set()
    for frame in found:
        path: dict[int, None] = {}
        at: int | None = frame
        while at is not None and at not in acyclic and at not in path:
            path[at] = None
            at = found[at]
        if at in path:  # a circle: cut it where it was entered
            found[next(reversed(path))] = None
        acyclic.update(path)
    return found
