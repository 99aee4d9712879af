"""Read the lines of a dump file, and restore its original text."""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, NamedTuple, Self

from xlagraph.ingest.carriers.text.line_forms import INDENTED, LARGEST_NUMBER, WIDE_NUMBER, LineForm
from xlagraph.ingest.carriers.text.printed_plan import Blanks, PartStyle, SectionName
from xlagraph.ingest.errors import ParseError

_BYTE_ORDER_MARK = "\ufeff"
_BLANK_LINES = re.compile("^\n+", re.MULTILINE)
_STACK_TRACE: Final = b"\n  Stack trace breakdown for peak usage: "


class DumpPart(NamedTuple):
    """One file of a dump."""

    name: str
    """For messages only."""
    text: str
    rest: str = ""
    """Whole lines after ``text`` in the file; usually empty."""

    @classmethod
    def decoded(cls, name: str, content: bytes) -> Self:
        """Decode a file; raise UnicodeDecodeError if it is not UTF-8.

        The stack trace becomes the rest. In most dumps only its line drawing is not ASCII, and
        would make every character of the text two bytes wide, which took half of the time to
        read and parse 100 MB.
        """
        if start := content.rfind(_STACK_TRACE) + 1:
            view = memoryview(content)
            # After an error decode the whole file: the position then counts from its start.
            with suppress(UnicodeDecodeError):
                return cls(name, str(view[:start], "utf-8"), str(view[start:], "utf-8"))
        return cls(name, content.decode())

    def joined(self) -> Self:
        """Return the part with its rest appended to its text."""
        return self._replace(text=self.text + self.rest, rest="")


class DumpText:
    """The lines of one file; a position is an index into ``text`` where a line starts.

    Blank lines between two sections are kept, and the parser skips them with `skip_blanks`.
    XLA writes no others. `remove_blanks` is only for a text that does not parse, because a search
    for all blank lines costs twice as much as counting a file's lines with long lines.
    """

    def __init__(self, part: DumpPart) -> None:
        # A search for one character is ten times faster than a search for two.
        has_returns = "\r" in part.text or "\r" in part.rest
        if has_returns and part.rest:
            part = part.joined()
        self.name = part.name
        text = part.text
        self.rest = part.rest
        """Lines after ``text``, which belong to the last section."""
        self._has_byte_order_mark = text.startswith(_BYTE_ORDER_MARK)
        if self._has_byte_order_mark:
            text = text[1:]
        self._line_end = "\n"
        if has_returns and "\r\n" in text:
            if text.count("\r\n") != text.count("\n"):
                raise self._mixed_line_ends(text)
            self._line_end = "\r\n"
            text = text.replace("\r\n", "\n")
        self.is_cut = not (self.rest or text).endswith("\n")
        """True if the last line of the file has no line end; ``text`` has one."""
        self.text = text if text.endswith("\n") else text + "\n"
        self._blanks: list[Blanks] = []
        self._removed_blanks: tuple[Blanks, ...] = ()

    def _mixed_line_ends(self, text: str) -> ParseError:
        is_windows = text.partition("\n")[0].endswith("\r")
        other = re.search("(?<!\r)\n" if is_windows else "\r\n", text)
        position = other.start() if other else 0
        line_end = "CR LF" if is_windows else "LF"
        start = text.rfind("\n", 0, position) + 1
        return ParseError(
            self.name,
            text.count("\n", 0, position) + 1,
            text[start:position],
            f"{line_end} at the end of this line, as on the first line",
        )

    def remove_blanks(self) -> bool:
        """Remove the blank lines from the text; return False if there is none."""
        kept = []
        end = removed = 0
        for run in _BLANK_LINES.finditer(self.text):
            kept.append(self.text[end : run.start()])
            self._blanks.append(Blanks(run.start() - removed, len(run[0])))
            end = run.end()
            removed += len(run[0])
        self.text = "".join([*kept, self.text[end:]])
        self._removed_blanks = tuple(self._blanks)
        return removed > 0

    def skip_blanks(self, position: int) -> int:
        """Return the position after the blank lines at a position, and record them."""
        end = self.blanks_end(position)
        if end > position:
            skipped = sum(blanks.lines for blanks in self._blanks)
            self._blanks.append(Blanks(position - skipped, end - position))
        return end

    def blanks_end(self, position: int) -> int:
        """Return the position after the blank lines at a position."""
        while self.text.startswith("\n", position):
            position += 1
        return position

    def line_start(self, position: int, lines: int) -> int:
        """Return the position after ``lines`` lines."""
        for _ in range(lines):
            position = self.text.index("\n", position) + 1
        return position

    def skip_line(self, position: int, *forms: LineForm) -> int:
        """Return the position after a line of one of the forms; raise if it matches none."""
        for form in forms:
            if found := form.regex.match(self.text, position):
                return found.end()
        raise self.syntax_error(position, *forms)

    def skip_lines(self, position: int, *forms: LineForm) -> int:
        """Return the position after all lines of one of the forms."""
        while any(form.regex.match(self.text, position) for form in forms):
            position = self.line_start(position, 1)
        return position

    def indented_end(self, position: int) -> int:
        """Return the position after all lines indented by four spaces."""
        return next(INDENTED.finditer(self.text, position)).end()

    def take_rest(self) -> str:
        """Return the lines after ``text``; later calls return an empty text."""
        rest, self.rest = self.rest, ""
        return rest

    def parse_lines(self, start: int, end: int, form: LineForm) -> list[tuple[str, ...]]:
        """Parse the lines of a span; raise unless it has lines, all of this form."""
        rows = form.multiline_regex.findall(self.text, start, end)
        if not rows or len(rows) != self.text.count("\n", start, end):
            raise self.syntax_error(self.skip_lines(start, form), form)
        return rows

    def check_sum(self, position: int, sizes: Iterable[int]) -> None:
        """Raise if the sum of sizes exceeds 64 bits; the error states the position."""
        if sum(sizes) > LARGEST_NUMBER:
            raise self.error(position, "sizes that add up to less than 2^63 bytes")

    def style(self, sections: tuple[SectionName, ...]) -> PartStyle:
        """Return the style that `restored_text` needs."""
        return PartStyle(sections, self._has_byte_order_mark, self._line_end, tuple(self._blanks))

    def error(self, position: int, expected: str) -> ParseError:
        """Return the error for the line at a position, with the expected text."""
        line = self.text.count("\n", 0, position) + 1
        line += sum(blanks.lines for blanks in self._removed_blanks if blanks.offset <= position)
        start = self.text.rfind("\n", 0, position) + 1
        return ParseError(self.name, line, self._line(start), expected)

    def syntax_error(self, position: int, *forms: LineForm) -> ParseError:
        """Return the error for a line that matches none of the forms."""
        line = self._line(position)
        narrowed = WIDE_NUMBER.sub("0", line)
        if narrowed != line and any(form.regex.match(narrowed + "\n") for form in forms):
            return self.width_error(position)
        if len(forms) == 1:
            return self.error(position, f"{forms[0].description} like '{forms[0].example}'")
        return self.error(position, " or ".join(form.description for form in forms))

    def width_error(self, position: int) -> ParseError:
        """Return the error for a number that is too large."""
        return self.error(position, "numbers that fit into 64 bits with a sign")

    def _line(self, position: int) -> str:
        end = self.text.find("\n", position)
        return self.text[position:] if end < 0 else self.text[position:end]


def restored_text(text: str, style: PartStyle) -> str:
    """Return a text with its original blank lines, line ends and byte order mark."""
    pieces = []
    end = 0
    for blanks in style.blank_lines:
        pieces += [text[end : blanks.offset], "\n" * blanks.lines]
        end = blanks.offset
    text = "".join([*pieces, text[end:]])
    if style.line_end != "\n":
        text = text.replace("\n", style.line_end)
    return _BYTE_ORDER_MARK + text if style.has_byte_order_mark else text
