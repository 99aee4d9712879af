"""Tables on a terminal: as wide as it is, in bands where there are too many columns."""

from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from xlagraph.cli.output.tables import Column

__all__ = ["write_bands"]

_GAP: Final = 2
_NARROWEST: Final = 24
"""No column of texts is made narrower than this to get a table into one band."""
_NARROWEST_KEY: Final = 40
"""Nor the keys of compilations; they lose their end, where all are alike."""
_MOST_LINES: Final = 3
"""A sentence is wrapped at words; beyond so many lines its middle is left out."""


def write_bands(table: Sequence[Column], stream: TextIO) -> None:
    """Write a table; one that is too wide in bands below each other, their rows numbered."""
    console = Console(file=stream, highlight=False, soft_wrap=False)
    for index, band in enumerate(_bands(table, console.width)):
        stream.write("\n" if index else "")
        with console.capture() as capture:
            console.print(_rendered(band))
        stream.writelines(line.rstrip() + "\n" for line in capture.get().splitlines())


def _rendered(band: Sequence[Column]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="")
    for column in band:
        table.add_column(
            Text(column.heading),
            justify="right" if column.is_numeric else "left",
            no_wrap=column.is_numeric,
            min_width=_narrowest(column),
        )
    table.add_row(*(Rule(characters="-", style="") for _ in band))
    is_key = [_is_key(column) for column in band]
    for row in zip(*(column.cells for column in band), strict=True):
        table.add_row(*(_Cell(text, key) for text, key in zip(row, is_key, strict=True)))
    return table


class _Cell:
    """A text that is wrapped at words, or loses its middle, where the column is too narrow.

    The key of a compilation loses its end.
    """

    def __init__(self, text: str, is_key: bool) -> None:
        self._text = text
        self._is_key = is_key

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        width = cell_len(self._text)
        return Measurement(min(width, _NARROWEST), width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = options.max_width
        if cell_len(self._text) > width and " " in self._text:
            lines = Text(self._text).wrap(console, width)
            if len(lines) <= _MOST_LINES:
                yield Text("\n").join(lines)
                return
        yield Text(_shortened(self._text, width, keep_end=not self._is_key), no_wrap=True)


def _shortened(text: str, width: int, *, keep_end: bool) -> str:
    if cell_len(text) <= width:
        return text
    # of an op name or a path the end tells more than the beginning
    tail = (width - 1) * 3 // 5 if keep_end else 0
    end = chop_cells(text[::-1], tail)[0][::-1] if tail else ""
    return f"{chop_cells(text, width - 1 - tail)[0]}…{end}"


def _bands(table: Sequence[Column], room: int) -> Iterator[Sequence[Column]]:
    """Yield the columns that stand side by side."""
    if _least_width(table) <= room:
        yield table
        return
    number = Column("#", [str(row + 1) for row in range(len(table[0].cells))], is_numeric=True)
    repeated = [number, table[0]] if _narrowest(table[0]) <= room // 3 else [number]
    left = table[len(repeated) - 1 :]
    while left:
        count = next(
            (
                count
                for count in range(len(left), 1, -1)
                if _least_width([*repeated, *left[:count]]) <= room
            ),
            1,
        )
        yield [*repeated, *left[:count]]
        left = left[count:]


def _least_width(columns: Sequence[Column]) -> int:
    return sum(map(_narrowest, columns)) + _GAP * (len(columns) - 1)


def _narrowest(column: Column) -> int:
    width = max(map(cell_len, (column.heading, *column.cells)))
    if column.is_numeric:
        return width
    return min(width, _NARROWEST_KEY if _is_key(column) else _NARROWEST)


def _is_key(column: Column) -> bool:
    return column.heading.startswith("compilation")
