"""Tables for people: plain lines that cut nothing, or what fits a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO

from xlagraph.cli.output.cells import cell_text, escape_control_characters
from xlagraph.graph.html_table import is_numeric

if TYPE_CHECKING:
    from xlagraph.graph import Cell

__all__ = ["Column", "write_table"]

_GAP: Final = "  "
_WIDEST_PADDING: Final = 120
"""A cell may be a megabyte long: it stands whole, but the others are not padded to it."""


class Column(NamedTuple):
    """A column as text."""

    heading: str
    cells: Sequence[str]
    is_numeric: bool
    styles: Sequence[str] = ()
    """Of each cell on a terminal, as rich names them; all plain if empty."""


def write_table(columns: Sequence[str], rows: Sequence[Sequence["Cell"]], stream: TextIO) -> None:
    """Write an aligned table; off a terminal every name stands whole."""
    table = [_column(name, [row[index] for row in rows]) for index, name in enumerate(columns)]
    if stream.isatty():
        # rich takes 50 ms to import
        from xlagraph.cli.output.terminal_tables import bar_column, write_bands

        write_bands(table, stream, bar_column(columns, rows))
    else:
        _write_lines(table, stream)


def _column(name: str, cells: Sequence["Cell"]) -> Column:
    texts = [cell_text(name, cell) for cell in cells]
    styles = [_style(name, cell) for cell in cells]
    return Column(escape_control_characters(name), texts, is_numeric(cells), styles)


def _style(column: str, cell: "Cell") -> str:
    """Return what colour says: what grew is red, what shrank green."""
    if column in ("growthBytes", "growthShare") and isinstance(cell, int | float) and cell:
        return "red" if cell > 0 else "green"
    return ""


def _write_lines(table: Sequence[Column], stream: TextIO) -> None:
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
