"""Cells as text for people: bytes with units, null named, control characters visible."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from xlagraph.presentation.byte_sizes import counts_bytes, share_text
from xlagraph.presentation.readable_tables import cell_text, is_numeric

if TYPE_CHECKING:
    from xlagraph.graph import Cell

# C0, DEL, C1, zero-width and direction marks, line and paragraph separators, surrogates
_CONTROL: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


class TextColumn(NamedTuple):
    """A column of a table for people."""

    heading: str
    cells: Sequence[str]
    is_numeric: bool
    styles: Sequence[str] = ()
    """Style of each cell on a terminal, as rich names it; no styles if empty."""


def escape_control_characters(text: str) -> str:
    r"""Escape what could control a terminal or hide text: ``\x1b``, ``\n``, ``\u202e``."""
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def line_text(column: str, cell: "Cell") -> str:
    """Return a cell's text for people, on one line."""
    match cell:
        case int() if not (isinstance(cell, bool) or counts_bytes(column)):
            return str(cell)
        case float() if column == "growthShare":
            return share_text(cell, signed=True)
        case [*parts] if all(isinstance(part, str) for part in parts):
            return escape_control_characters(", ".join(map(str, parts)))
    return escape_control_characters(cell_text(column, cell))


def text_columns(columns: Sequence[str], rows: Sequence[Sequence["Cell"]]) -> Sequence[TextColumn]:
    """Return the columns of rows as text for people."""
    return [_text_column(name, [row[i] for row in rows]) for i, name in enumerate(columns)]


def _text_column(name: str, cells: Sequence["Cell"]) -> TextColumn:
    texts = [line_text(name, cell) for cell in cells]
    styles = [_style(name, cell) for cell in cells]
    return TextColumn(escape_control_characters(name), texts, is_numeric(cells), styles)


def _style(column: str, cell: "Cell") -> str:
    """Return the colour of a cell: red for growth, green for shrinkage."""
    if column in ("growthBytes", "growthShare") and isinstance(cell, int | float) and cell:
        return "red" if cell > 0 else "green"
    return ""
