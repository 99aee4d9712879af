"""Find the line of the user's code in a Python or IPython traceback."""

from xlagraph.advice.error_message import message_forms as forms
from xlagraph.advice.error_message.failure import TracebackLine
from xlagraph.hlo.metadata import is_installed

__all__ = ["TracebackFrames"]


class TracebackFrames:
    """The frames of the latest traceback in a log, outermost first as Python prints them."""

    def __init__(self) -> None:
        self._innermost: TracebackLine | None = None
        self._file: str | None = None
        """File of a frame whose line IPython prints further down."""
        self._function: str | None = None

    def read(self, text: str) -> bool:
        """Read a line of the log; return whether it belongs to a traceback."""
        if forms.TRACEBACK.search(text):
            self._innermost = self._file = None
            return True
        if found := forms.FRAME.match(text):
            self._add(found["file"], found["line"], found["function"])
        elif found := forms.NOTEBOOK_FRAME.match(text):
            file, line = found["file"] or found["cell"], found["line"] or found["cell_line"]
            self._add(file, line, found["function"])
        elif found := forms.OLD_NOTEBOOK_FRAME.match(text):
            self._file, self._function = found["file"], found["function"]
        elif self._file is not None and (found := forms.OLD_NOTEBOOK_LINE.match(text)):
            self._add(self._file, found["line"], self._function)
            self._file = None
        else:
            return False
        return True

    def take_user_line(self) -> TracebackLine | None:
        """Return the innermost line outside of installed packages, once; else None."""
        found, self._innermost = self._innermost, None
        return found

    def _add(self, file: str, line: str, function: str | None) -> None:
        if not is_installed(file) and file != "<string>":
            name = None if function in (None, "<module>") else function
            self._innermost = TracebackLine(file, int(line), name)
