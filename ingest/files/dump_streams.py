r"""Extract the files that XLA dumps to standard output from the log around them.

    file = "*** Begin " NAME " ***\n" CONTENT "\n*** End " NAME " ***\n"

XLA writes this with ``--xla_dump_to=-``. The line break before the end is not content.
"""

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["BEGIN", "StreamedFile", "streamed_files"]

BEGIN: Final = re.compile(rb"^\*\*\* Begin (?P<name>[^\r\n]+) \*\*\*\r?$", re.MULTILINE)
_END: Final = re.compile(rb"\*\*\* End (?P<name>[^\r\n]+) \*\*\*[\r\n]*")


class StreamedFile:
    """One file of a stream; its content must be read before the next file."""

    def __init__(self, name: bytes, lines: Iterator[bytes]) -> None:
        self.name = name.decode(errors="replace")
        self.is_whole = False
        """True once the end of the file was found."""
        self._end = name
        self._lines = lines

    def content(self) -> Iterator[bytes]:
        """Yield the content, in pieces."""
        line_break = b""
        for line in self._lines:
            if (end := _END.fullmatch(line)) and end["name"] == self._end:
                self.is_whole = True
                return
            text = line.removesuffix(b"\n")
            yield line_break + text
            line_break = line[len(text) :]


def streamed_files(lines: Iterator[bytes]) -> Iterator[StreamedFile]:
    """Yield the files of a stream; lines outside of files are skipped."""
    for line in lines:
        if found := BEGIN.match(line.rstrip(b"\r\n")):
            file = StreamedFile(found["name"], lines)
            yield file
            for _ in file.content() if not file.is_whole else ():
                pass
