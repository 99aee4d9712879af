"""Call paths: the stack frames of instructions, each together with its callers."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from xlagraph.hlo.metadata import StackFrame

__all__ = ["CallPath", "CallPaths", "call_paths"]


class CallPath(NamedTuple):
    """A stack frame together with its callers."""

    location: str
    """File, line, column and function: the same in all compilations."""
    frame: StackFrame
    caller: int | None
    """Index of the calling path."""
    depth: int
    """Number of frames on the path: its callers and itself."""


class CallPaths(NamedTuple):
    """The call paths that end in given frames."""

    paths: tuple[CallPath, ...]
    """Call paths, callers before callees; no two have the same location and caller."""
    index_by_frame: Mapping[int | None, int]
    """Index of the call path that ends in each frame."""


def call_paths(frames: Mapping[int, StackFrame], innermost: Iterable[int | None]) -> CallPaths:
    """Return the call paths that end in the innermost frames; linear in the frames on them."""
    index_by_frame: dict[int | None, int] = {}
    index_by_location: dict[tuple[str, int | None], int] = {}
    paths: list[CallPath] = []
    for last in dict.fromkeys(innermost):
        stack = []
        number = last
        while number is not None and number in frames and number not in index_by_frame:
            stack.append(number)
            number = frames[number].caller
        caller = index_by_frame.get(number)
        for number in reversed(stack):
            location = _location(frames[number])
            index = index_by_location.setdefault((location, caller), len(paths))
            if index == len(paths):
                depth = 1 if caller is None else paths[caller].depth + 1
                paths.append(CallPath(location, frames[number], caller, depth))
            index_by_frame[number] = caller = index
    return CallPaths(tuple(paths), index_by_frame)


def _location(frame: StackFrame) -> str:
    where = f"{frame.file or '?'}:{frame.line or '?'}:{frame.column or '?'}"
    return f"{where} {frame.function or '?'}"
