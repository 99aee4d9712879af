"""Tables off a terminal: plain aligned lines that cut nothing."""

from collections.abc import Sequence
from typing import Final, TextIO

from xlagraph.cli.output.cells import TextColumn

__all__ = ["write_lines"]

_GAP: Final = "  "
_WIDEST_PADDING: Final = 120
"""A cell may be a megabyte long: it stands whole, but the others are not padded to it."""


def write_lines(table: Sequence[TextColumn], stream: TextIO) -> None:
    """Write a line for the headings, a rule, and a line for each row."""
    widths = [
        min(_WIDEST_PADDING, max(map(len, (column.heading, *column.cells)))) for column in table
    ]
    headings, rules = [column.heading for column in table], ["-" * width for width in widths]
    for line in (headings, rules, *zip(*(column.cells for column in table), strict=True)):
        cells = [
            text.rjust(width) if column.is_numeric else text.ljust(width)
            for column, text, width in zip(table, line, widths, strict=True)
        ]
        stream.write(_GAP.join(cells).rstrip() + "\n")
