"""Tables for people: plain lines that cut nothing, or bands that fit a terminal."""

import shutil
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, TextIO

from xlagraph.cli.output.cells import cell_text, escape_control_characters, is_numeric

if TYPE_CHECKING:
    from xlagraph.graph import Cell

# A cell may be a megabyte long: it stands whole, but the others are not padded to it.
_WIDEST_PADDING: Final = 120
_GAP: Final = "  "
_NARROWEST: Final = 24
"""No column of texts is made narrower than this to get a table into one band."""
_NARROWEST_KEY: Final = 40
"""Nor the keys of compilations; they lose their end, where all are alike."""
_MOST_LINES: Final = 3
"""A sentence is folded; beyond so many lines its middle is left out."""


def write_table(columns: Sequence[str], rows: Sequence[Sequence["Cell"]], stream: TextIO) -> None:
    """Write an aligned table.

    Off a terminal every name stands whole. On one, a table that is too wide is written in
    bands, one below the other, and a long name loses its middle.
    """
    table = [
        _Column(
            escape_control_characters(column),
            [cell_text(column, row[place]) for row in rows],
            at_right=is_numeric([row[place] for row in rows]),
        )
        for place, column in enumerate(columns)
    ]
    if not stream.isatty():
        _write(table, [min(_WIDEST_PADDING, column.width) for column in table], stream)
        return
    for place, (band, widths) in enumerate(_bands(table, shutil.get_terminal_size().columns)):
        stream.write("\n" if place else "")
        _write([column.fitted(width) for column, width in zip(band, widths, strict=True)],
               widths, stream)  # fmt: skip


@dataclass(frozen=True)
class _Column:
    heading: str
    cells: Sequence[str]
    at_right: bool
    """It holds numbers."""

    @cached_property
    def width(self) -> int:
        return max(map(_width, (self.heading, *self.cells)))

    @property
    def narrowest(self) -> int:
        if self.at_right:
            return self.width
        return min(self.width, _NARROWEST_KEY if self.is_key else _NARROWEST)

    @property
    def is_key(self) -> bool:
        return self.heading.startswith("compilation")

    def fitted(self, width: int) -> "_Column":
        cells = [_fitted(cell, width, keep_end=not self.is_key) for cell in self.cells]
        return _Column(self.heading, cells, self.at_right)


def _bands(table: list[_Column], room: int) -> Iterator[tuple[list[_Column], list[int]]]:
    """Give the columns that stand side by side, with their widths."""
    if _room_for([column.narrowest for column in table]) <= room:
        yield table, _widths(table, room)
        return
    number = _Column("#", [str(row + 1) for row in range(len(table[0].cells))], at_right=True)
    named = [number, table[0]] if table[0].narrowest <= room // 3 else [number]
    left = table[len(named) - 1 :]
    while left:
        count = next(
            (
                count
                for count in range(len(left), 1, -1)
                if _room_for([item.narrowest for item in (*named, *left[:count])]) <= room
            ),
            1,
        )
        band = [*named, *left[:count]]
        yield band, _widths(band, room)
        left = left[count:]


def _widths(band: Sequence[_Column], room: int) -> list[int]:
    """Take from the widest texts, one sign at a time, until the band fits."""
    widths = [min(column.width, room) for column in band]
    while _room_for(widths) > room:
        shrinkable = [place for place, width in enumerate(widths) if width > band[place].narrowest]
        if not shrinkable:
            break
        widths[max(shrinkable, key=widths.__getitem__)] -= 1
    return widths


def _room_for(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _fitted(cell: str, width: int, *, keep_end: bool) -> str:
    if _width(cell) <= width:
        return cell
    if " " in cell:
        lines = textwrap.wrap(cell, width, break_on_hyphens=False)
        if len(lines) <= _MOST_LINES:
            return "\n".join(lines)
    # of an op name or a path the end tells more than the beginning
    tail = (width - 1) * 3 // 5 if keep_end else 0
    return f"{_start(cell, width - 1 - tail)}…{_start(cell[::-1], tail)[::-1]}"


def _start(text: str, width: int) -> str:
    room = width
    for place, sign in enumerate(text):
        room -= _width(sign)
        if room < 0:
            return text[:place]
    return text


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in text
    )


def _write(table: Sequence[_Column], widths: Sequence[int], stream: TextIO) -> None:
    rules = ["-" * width for width in widths]
    cells_by_row = zip(*(column.cells for column in table), strict=True)
    for line in ([column.heading for column in table], rules, *cells_by_row):
        parts = [cell.split("\n") for cell in line]
        for place in range(max(map(len, parts))):
            cells = []
            for column, part, width in zip(table, parts, widths, strict=True):
                text = part[place] if place < len(part) else ""
                padding = " " * (width - _width(text))
                cells.append(padding + text if column.at_right else text + padding)
            stream.write(_GAP.join(cells).rstrip() + "\n")
