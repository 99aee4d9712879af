"""The places that an instruction's metadata names: source files and call stacks."""

import os.path
import re
from collections.abc import Collection, Mapping
from itertools import permutations
from pathlib import PurePath
from typing import Final, NamedTuple

_INSTALLED: Final = re.compile(
    r"(?:^|[/\\])(?:site|dist)-packages[/\\]|[/\\]lib/python3\.|^<frozen "
)

_OF_EVERY_OP: Final = "tensorflow/python/framework/ops.py"
"""File that has the innermost line of each op of TensorFlow; text has no other line."""
_PACKAGES: Final = re.compile(r"(?:^|[/\\])(?:site|dist)-packages[/\\]")


class StackFrame(NamedTuple):
    """A source location from which an instruction comes, and its caller."""

    function: str | None
    file: str | None
    line: int | None
    column: int | None
    caller: int | None
    """Number of the calling frame; None for the outermost."""


def is_installed(file: str) -> bool:
    """Return whether a source file belongs to an installed package or to Python itself."""
    return _INSTALLED.search(file) is not None


def makes_every_op(file: str) -> bool:
    """Return True for a file whose line is that of every op, so that it says nothing."""
    return file.endswith(_OF_EVERY_OP)


def from_packages(file: str) -> str:
    """Return the path of an installed package from ``site-packages`` on; other paths unchanged."""
    found = list(_PACKAGES.finditer(file))
    return file[found[-1].end() :] if found else file


def names_in_checkouts(a: Collection[str], b: Collection[str]) -> dict[str, str]:
    """Return the files of two checkouts of a program, from the folder of each on, by path.

    Two programs have such files if they share no path, and no folder of all files of one contains
    that of the other. Files of installed packages do not count; relative and absolute paths have no
    common folder.
    """
    sides = [{each for each in of_side if not is_installed(each)} for of_side in (a, b)]
    kinds = [{PurePath(each).is_absolute() for each in of_side} for of_side in sides]
    if any(len(each) != 1 for each in kinds) or sides[0] & sides[1]:
        return {}
    folders = [
        PurePath(os.path.commonpath([PurePath(each).parent for each in of_side]))
        for of_side in sides
    ]
    if any(one.is_relative_to(other) for one, other in permutations(folders)):
        return {}
    return {
        each: str(PurePath(each).relative_to(folder))
        for of_side, folder in zip(sides, folders, strict=True)
        for each in of_side
    }


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
