"""Call paths: the stack frames of instructions, each together with its callers."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from xlagraph.ingest.dump.module_text import StackFrame
from xlagraph.ingest.rows.keys import bounded_key

__all__ = ["CallPath", "CallPaths", "call_paths"]

_DIGEST_CHARACTERS: Final = 20  # 80 bits: no two callers alike among billions


class CallPath(NamedTuple):
    """A stack frame together with its callers."""

    key: str
    """Own source location and a digest of the caller's key: the same in all compilations."""
    frame: StackFrame
    caller: str | None


class CallPaths(NamedTuple):
    """The call paths that end in some frames."""

    paths: tuple[CallPath, ...]
    """Callers before those that they call."""
    key_by_frame: Mapping[int | None, str]
    """Of every frame on them."""


def call_paths(frames: Mapping[int, StackFrame], innermost: Iterable[int | None]) -> CallPaths:
    """Return the call paths that end in the innermost frames; linear in all frames on them."""
    key_by_frame: dict[int | None, str] = {}
    paths: dict[str, CallPath] = {}
    for last in dict.fromkeys(innermost):
        stack = []
        number = last
        while number is not None and number in frames and number not in key_by_frame:
            stack.append(number)
            number = frames[number].caller
        caller = key_by_frame.get(number)
        for number in reversed(stack):
            path = _call_path(frames[number], caller)
            paths.setdefault(path.key, path)
            key_by_frame[number] = caller = path.key
    return CallPaths(tuple(paths.values()), key_by_frame)


def _call_path(frame: StackFrame, caller: str | None) -> CallPath:
    location = f"{frame.file or '?'}:{frame.line or '?'}:{frame.column or '?'}"
    key = bounded_key(f"{location} {frame.function or '?'}")
    if caller is None:
        return CallPath(key, frame, None)
    digest = hashlib.sha256(caller.encode()).hexdigest()[:_DIGEST_CHARACTERS]
    return CallPath(f"{key} <{digest}>", frame, caller)
