"""Rows as aligned text, for messages and for the repr of what holds them."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from xlagraph.presentation.html_tables import is_numeric, measured_text

__all__ = ["aligned_lines", "text_table"]

_GAP: Final = "  "


def text_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows below their columns: bytes with units, numbers at the right, None empty."""
    texts = [
        [
            "" if cell is None else measured_text(column, cell)
            for column, cell in zip(columns, row, strict=True)
        ]
        for row in rows
    ]
    numeric = [is_numeric(cells) for cells in zip_longest(*rows)] or [False] * len(columns)
    return "\n".join(aligned_lines([list(columns), *texts], numeric))


def aligned_lines(
    lines: Sequence[Sequence[str]], numeric: Sequence[bool], widest: int | None = None
) -> Iterator[str]:
    """Yield headings, a rule, and the other lines, with numeric columns at the right.

    No column is padded beyond ``widest``; longer cells are written in full.
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    if widest is not None:
        widths = [min(width, widest) for width in widths]
    headings, *rows = lines
    for line in (headings, ["-" * width for width in widths], *rows):
        cells = [
            text.rjust(width) if at_right else text.ljust(width)
            for text, width, at_right in zip(line, widths, numeric, strict=True)
        ]
        yield _GAP.join(cells).rstrip()
