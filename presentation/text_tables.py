"""Rows as aligned text, for messages and for the repr of what holds them."""

from collections.abc import Sequence
from itertools import zip_longest

from xlagraph.presentation.html_tables import is_numeric, measured_text

__all__ = ["text_table"]


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
    widths = [max(map(len, column)) for column in zip(columns, *texts, strict=True)]
    lines = [
        "  ".join(
            text.rjust(width) if at_right else text.ljust(width)
            for text, width, at_right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in ([*columns], ["-" * width for width in widths], *texts)
    ]
    return "\n".join(lines)
