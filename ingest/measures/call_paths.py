"""Call paths: the stack frames of instructions, each together with its callers."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from xlagraph.ingest.dump.module_text import StackFrame
from xlagraph.ingest.rows.keys import bounded_key

__all__ = ["CallPath", "CallPaths", "call_paths"]

_DIGEST_CHARACTERS: Final = 20  # 80 bits: no two callers alike among billions
_ORDER_CHARACTERS: Final = 6  # distinguishes functions on lines of one number


class CallPath(NamedTuple):
    """A stack frame together with its callers."""

    key: str
    """Own source location and a digest of the caller's key: the same in all compilations."""
    frame: StackFrame
    caller: str | None
    """Key of the calling path."""
    depth: int
    """Callers above it and itself."""
    tree_order: str
    """Sorts a tree of calls: callers before what they call, those of one caller by line."""


class CallPaths(NamedTuple):
    """The call paths that end in some frames."""

    paths: tuple[CallPath, ...]
    """Callers before those that they call."""
    key_by_frame: Mapping[int | None, str]
    """Of every frame on them."""


def call_paths(frames: Mapping[int, StackFrame], innermost: Iterable[int | None]) -> CallPaths:
    """Return the call paths that end in the innermost frames; linear in all frames on them."""
    path_by_frame: dict[int | None, CallPath] = {}
    paths: dict[str, CallPath] = {}
    for last in dict.fromkeys(innermost):
        stack = []
        number = last
        while number is not None and number in frames and number not in path_by_frame:
            stack.append(number)
            number = frames[number].caller
        caller = path_by_frame.get(number)
        for number in reversed(stack):
            path = _call_path(frames[number], caller)
            path_by_frame[number] = caller = paths.setdefault(path.key, path)
    key_by_frame = {number: path.key for number, path in path_by_frame.items()}
    return CallPaths(tuple(paths.values()), key_by_frame)


def _call_path(frame: StackFrame, caller: CallPath | None) -> CallPath:
    location = f"{frame.file or '?'}:{frame.line or '?'}:{frame.column or '?'}"
    key = bounded_key(f"{location} {frame.function or '?'}")
    order = f"{frame.line or 0:07}{_digest(key)[:_ORDER_CHARACTERS]}"
    if caller is None:
        return CallPath(key, frame, None, 1, order)
    key = f"{key} <{_digest(caller.key)}>"
    return CallPath(key, frame, caller.key, caller.depth + 1, f"{caller.tree_order}/{order}")


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:_DIGEST_CHARACTERS]
