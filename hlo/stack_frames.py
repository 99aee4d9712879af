"""Removes cycles from call stacks."""

from collections.abc import Mapping

__all__ = ["acyclic_callers"]


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
