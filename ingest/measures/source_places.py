"""Places in source code that instructions belong to, and call paths: frames with their callers."""

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Final, NamedTuple

from xlagraph.hlo.instruction import Attributes
from xlagraph.hlo.metadata import StackFrame, is_installed
from xlagraph.hlo.program import Program


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


Location = tuple[str | None, int | None, int | None]
"""Source file, line and stack frame, as the attributes of an instruction state them."""

LOCATION: Final = attrgetter("source_file", "source_line", "stack_frame")
"""Function from an instruction's attributes to its location."""


class UserLine(NamedTuple):
    """A line outside of installed packages."""

    file: str
    line: int | None
    function: str | None


class SourcePlace(NamedTuple):
    """Source location of an instruction."""

    file: str | None
    line: int | None
    frame: int | None
    """Innermost frame of its call stack; None if the program does not have the frame."""
    user_line: UserLine | None


class Places(dict[Location, SourcePlace]):
    """Places by location. Each is made on first access: many instructions share a place."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self._program = program

    def __missing__(self, location: Location) -> SourcePlace:
        """Return the place of a location, and keep it."""
        file, line, frame = location
        attributes = Attributes(source_file=file, source_line=line, stack_frame=frame)
        file, line = self._program.source_location(attributes)
        if frame in self._program.frames:
            at = self._program.user_frame(frame)
            user_line = UserLine(at.file, at.line, at.function) if at and at.file else None
        else:
            frame = None
            user_line = UserLine(file, line, None) if file and not is_installed(file) else None
        place = self[location] = SourcePlace(file, line, frame, user_line)
        return place
