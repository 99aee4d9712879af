"""Find the out-of-memory messages in a log, in one pass over its lines.

A failure begins at a headline and takes the sections, lists and statistics that follow it. The
same failure is often reported several times, by the allocator, by XLA and by Python: reports
of one request are one failure.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from io import BufferedReader, RawIOBase, TextIOWrapper
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Final, cast
from zipfile import BadZipFile, ZipFile

from xlagraph.advice.error_message import message_forms as forms
from xlagraph.advice.error_message.failure import Failure, Stage, TracebackLine
from xlagraph.advice.error_message.failure_details import FailureDetails, request_key
from xlagraph.advice.error_message.headlines import failure_of_headline
from xlagraph.advice.error_message.log_lines import plain_lines
from xlagraph.hlo.metadata import is_installed
from xlagraph.runtime.files import UNPACKING_ERRORS, unpacked_stream


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


# Part of every line that can begin a failure or belong to a traceback; others cost no more
# than this search.
_KEYWORDS: Final = (
    "ut of memory", "in memory space", "exceed memory", "Memory limit", "That was not possible",
    "Hbm usage", "OOM when", "RESOURCE_EXHAUSTED", "esource exhausted",
    "ResourceExhausted", "ailed to allocate", "File ", "Traceback", "Cell In", "-> ", ".py in ",
    "<ipython-input", "xceeded scoped",
    "cuMemAllocAsync", "in-memory CUBIN", "size limit exceeded", "by rematerialization",
    "exceeds the base limit", "out of resource: shared",
    "Shared memory requested",
)  # fmt: skip
_LINES_AFTER: Final = 1000
"""Number of lines without a detail that end a message."""
_ZIP: Final = b"PK\x03\x04"
_LONGEST_HEADLINE: Final = 3
"""Most lines of a wrapped headline."""


@dataclass(frozen=True, slots=True)
class ErrorLog:
    """The failures in a log."""

    failures: tuple[Failure, ...]
    """The distinct failures, in the order of the log."""
    unknown: tuple[int, str] | None
    """Number and text of the first line with a status RESOURCE_EXHAUSTED of another kind."""
    line_count: int


def decoded_lines(log: IO[bytes]) -> Iterator[str]:
    """Yield the lines of a log, plain or packed, or of all members of a zip archive.

    Bytes that are not UTF-8 are replaced. Raises OSError if it cannot be unpacked.
    """
    stream = log if isinstance(log, BufferedReader) else BufferedReader(cast("RawIOBase", log))
    try:
        if stream.peek(len(_ZIP)).startswith(_ZIP):
            yield from _lines_of_zip(stream)
        else:
            content = unpacked_stream(stream) or stream
            with TextIOWrapper(content, encoding="utf-8", errors="replace") as lines:
                yield from lines
    except (*UNPACKING_ERRORS, BadZipFile) as error:
        raise OSError(f"the log cannot be unpacked: {error}") from error


def _lines_of_zip(stream: IO[bytes]) -> Iterator[str]:
    with TemporaryFile() as file:  # a zip is read from its end
        copyfileobj(stream, file)
        with ZipFile(file) as archive:
            for name in archive.namelist():
                with archive.open(name) as member:
                    yield from decoded_lines(member)


def read_error_log(lines: Iterable[str]) -> ErrorLog:
    """Read a log; linear in its length, and only its failures are kept in memory."""
    reader = _Reader()
    number = 0
    for number, line in enumerate(lines, start=1):
        reader.read(number, line)
    return ErrorLog(reader.failures(), reader.unknown, number)


class _Reader:
    def __init__(self) -> None:
        self.unknown: tuple[int, str] | None = None
        self._details: list[FailureDetails] = []
        self._by_request: dict[object, list[FailureDetails]] = {}
        self._open: FailureDetails | None = None
        self._lines_left = 0
        self._headline: list[str] = []
        """Lines of a headline that is not complete yet."""
        self._code: str | None = None
        """Parsed from the line right before the headline."""
        self._frames = TracebackFrames()

    def failures(self) -> tuple[Failure, ...]:
        return tuple(details.failure() for details in self._details)

    def read(self, number: int, line: str) -> None:
        if not self._lines_left and not any(keyword in line for keyword in _KEYWORDS):
            return
        self._lines_left = max(0, self._lines_left - 1)
        for text in plain_lines(line):
            self._read_text(number, text)

    def _read_text(self, number: int, text: str) -> None:
        if self._frames.read(text):
            return
        if failure := failure_of_headline(text):
            known = failure.code or self._code
            self._begin(replace(failure, code=known, line_number=number), text)
            self._code = None
        elif self._is_detail(text):
            self._lines_left = _LINES_AFTER
        elif forms.EXHAUSTED.search(text):
            code = forms.CODE.search(text)
            self._code = code["code"] if code else None
            self.unknown = self.unknown or (number, text)

    def _is_detail(self, text: str) -> bool:
        """Read a line of the open failure; return whether it belongs to it."""
        if self._headline and self._continue_headline(text):
            return True
        return self._open is not None and self._lines_left > 0 and self._open.read(text)

    def _begin(self, failure: Failure, text: str) -> None:
        failure = replace(failure, traceback_line=self._frames.take_user_line())
        known = self._known(failure)
        if known is None:
            known = FailureDetails(failure)
            self._details.append(known)
            self._by_request.setdefault(request_key(failure), []).append(known)
        else:
            known.merge(failure)
        self._open = known
        self._lines_left = _LINES_AFTER
        self._headline = [text] if _is_incomplete(failure) else []

    def _known(self, failure: Failure) -> FailureDetails | None:
        """Return the earlier failure that a report repeats, if any."""
        same_size = self._by_request.get(request_key(failure), ())
        # a report that is cut before its size is about the latest failure that it can be about
        before = self._details[-1:] if failure.requested_bytes is None else same_size
        return next((each for each in before if each.may_be(failure)), None)

    def _continue_headline(self, text: str) -> bool:
        """Read the next line of a headline that the writer of the log has wrapped."""
        self._headline.append(text.strip())
        failure = failure_of_headline(" ".join(self._headline))
        if failure is None or self._open is None:
            self._headline = []
            return False
        grown = self._open.merge(failure)
        self._by_request.setdefault(request_key(failure), []).append(self._open)
        if len(self._headline) >= _LONGEST_HEADLINE or not _is_incomplete(failure):
            self._headline = []
        return grown


def _is_incomplete(failure: Failure) -> bool:
    if failure.stage is Stage.PLAN:
        return failure.missing_bytes is None or failure.exceeded_bytes is None
    return failure.requested_bytes is None and not failure.is_outside_pool
