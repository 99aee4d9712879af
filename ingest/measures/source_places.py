"""Places in source code that instructions belong to."""

from operator import attrgetter
from typing import Final, NamedTuple

from xlagraph.hlo.instruction import Attributes
from xlagraph.hlo.metadata import is_installed
from xlagraph.hlo.program import Program

__all__ = ["LOCATION", "Location", "Places", "SourcePlace", "UserLine"]

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
            user_line = self._user_line(frame)
        else:
            frame = None
            user_line = UserLine(file, line, None) if file and not is_installed(file) else None
        place = self[location] = SourcePlace(file, line, frame, user_line)
        return place

    def _user_line(self, frame: int | None) -> UserLine | None:
        while frame is not None:
            at = self._program.frames[frame]
            if at.file is not None and not is_installed(at.file):
                return UserLine(at.file, at.line, at.function)
            frame = at.caller
        return None
