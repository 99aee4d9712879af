"""Tables and plots that fit a terminal; tables with too many columns are split into bands."""

import os
import shutil
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, TextIO

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from xlagraph.cli.output.cells import TextColumn, line_text, text_columns
from xlagraph.presentation.byte_sizes import counts_bytes, human_bytes, share_text
from xlagraph.presentation.readable_tables import most_important_first

if TYPE_CHECKING:
    from plotille import Figure  # type: ignore[import-untyped]

    from xlagraph.graph import Cell

_GAP: Final = 2
_NARROWEST: Final = 24
"""Smallest width to which a text column is narrowed to fit a table into one band."""
_NARROWEST_KEY: Final = 40
"""Smallest width of a column of compilation keys, which are cut at their (similar) ends."""
_MOST_LINES: Final = 3
"""Most lines of a wrapped sentence; a longer one is cut in the middle instead."""
_COUNTS: Final = ("values", "allocations")
_SHORTEST_BAR: Final = 8
_LONGEST_BAR: Final = 30
_HEIGHT: Final = 16
"""Lines of a plot, so that the plot and the command fit on a screen."""
_AXIS_WIDTH: Final = 24
"""Columns for the numbers next to a plot and the name of its axis."""
_LONGEST_LABEL: Final = 48
_BAR: Final = "█"
_PARTS_OF_BAR: Final = " ▏▎▍▌▋▊▉"
_COLORS: Final = ("blue", "red", "green", "magenta", "cyan", "yellow")


def bar_column(
    columns: Sequence[str], rows: Sequence[Sequence["Cell"]]
) -> tuple[int, Sequence[float]] | None:
    """Return the byte column of rows that are groups, and its cells as shares of the largest.

    That column follows the number of members of each group. None if rows are not groups.
    """
    for index in range(1, len(columns)):
        if columns[index - 1] in _COUNTS and counts_bytes(columns[index]):
            cells = [row[index] for row in rows]
            sizes = [abs(cell) if isinstance(cell, int | float) else 0 for cell in cells]
            largest = max(sizes, default=0)
            return (index, [size / largest for size in sizes]) if largest else None
    return None


def fitting_columns(
    columns: Sequence[str],
    rows: Sequence[Sequence["Cell"]],
    stream: TextIO,
    shown: Sequence[str] = (),
) -> Sequence[int]:
    """Return the indices of the columns that fit side by side on a terminal, in their order.

    More important columns, as ``shown`` names them, are chosen first; the first one is always
    included.
    """
    table, room = text_columns(columns, rows), Console(file=stream).width
    fit: list[int] = []
    for group in most_important_first(columns, shown):
        if not fit or _least_width([table[index] for index in (*fit, *group)]) <= room:
            fit += group
    return sorted(fit)


def write_bands(
    table: Sequence[TextColumn],
    stream: TextIO,
    bars: tuple[int, Sequence[float]] | None = None,
) -> None:
    """Write a table; split one that is too wide into bands with numbered rows.

    Bars are drawn next to their column if the whole table leaves room for them.
    """
    console = Console(file=stream, highlight=False, soft_wrap=False)
    room = console.width - sum(_widest(column) + _GAP for column in table)
    if bars is not None and room >= _SHORTEST_BAR:
        index, shares = bars
        longest = min(room, _LONGEST_BAR)
        cells = [bar_text(share * longest) for share in shares]
        bar = TextColumn("", cells, is_numeric=False, styles=["blue"] * len(cells))
        table = [*table[: index + 1], bar, *table[index + 1 :]]
    for index, band in enumerate(_bands(table, console.width)):
        stream.write("\n" if index else "")
        with console.capture() as capture:
            console.print(_rendered(band))
        stream.writelines(line.rstrip() + "\n" for line in capture.get().splitlines())


def _rendered(band: Sequence[TextColumn]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="")
    for column in band:
        table.add_column(
            Text(column.heading),
            justify="right" if column.is_numeric else "left",
            no_wrap=column.is_numeric,
            min_width=_narrowest(column),
        )
    table.add_row(*(Rule(characters="-", style="") for _ in band))
    for row in range(len(band[0].cells)):
        table.add_row(*(_Cell(column, row) for column in band))
    return table


class _Cell:
    """A text that is wrapped at words, or cut in the middle, if the column is too narrow.

    A compilation's key is cut at the end.
    """

    def __init__(self, column: TextColumn, row: int) -> None:
        self._text = column.cells[row]
        self._style = column.styles[row] if column.styles else ""
        self._is_key = _is_key(column)

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
        text = _shortened(self._text, width, keep_end=not self._is_key)
        yield Text(text, style=self._style, no_wrap=True)


def _shortened(text: str, width: int, *, keep_end: bool) -> str:
    if cell_len(text) <= width:
        return text
    # the end of an op name or a path is more specific than the beginning
    tail = (width - 1) * 3 // 5 if keep_end else 0
    end = chop_cells(text[::-1], tail)[0][::-1] if tail else ""
    return f"{chop_cells(text, width - 1 - tail)[0]}…{end}"


def _bands(table: Sequence[TextColumn], room: int) -> Iterator[Sequence[TextColumn]]:
    """Yield the columns of each band."""
    if _least_width(table) <= room:
        yield table
        return
    number = TextColumn("#", [str(row + 1) for row in range(len(table[0].cells))], is_numeric=True)
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


def _least_width(columns: Sequence[TextColumn]) -> int:
    return sum(map(_narrowest, columns)) + _GAP * (len(columns) - 1)


def _widest(column: TextColumn) -> int:
    return max(map(cell_len, (column.heading, *column.cells)))


def _narrowest(column: TextColumn) -> int:
    width = _widest(column)
    if column.is_numeric:
        return width
    return min(width, _NARROWEST_KEY if _is_key(column) else _NARROWEST)


def _is_key(column: TextColumn) -> bool:
    return column.heading.startswith("compilation")


def write_series(columns: Sequence[str], rows: Sequence[Sequence["Cell"]], stream: TextIO) -> None:
    """Plot the byte columns of rows as lines over the first column."""
    import plotille

    has_colors = stream.isatty() and not os.environ.get("NO_COLOR")
    named = [name for name in columns if counts_bytes(name)]
    if not has_colors:  # lines would look alike: keep only the last, physical one
        del named[:-1]
    figure = plotille.Figure()
    figure.width = max(20, shutil.get_terminal_size().columns - _AXIS_WIDTH)
    figure.height = _HEIGHT
    figure.with_colors = has_colors
    figure.x_label, figure.y_label = columns[0], "bytes"
    for kind in (int, float):
        figure.register_label_formatter(kind, _tick)
    for name, color in zip(named, _COLORS, strict=False):
        _add_line(figure, columns, rows, name, color)
    # an axis of one step has no width
    steps = [row[0] for row in rows if isinstance(row[0], int)]
    figure.set_x_limits(min_=min(steps), max_=max(*steps, min(steps) + 1))
    figure.set_y_limits(min_=0)
    lines = figure.show(legend=True).splitlines()
    stream.writelines(f"{line.rstrip()}\n" for line in lines)


def _add_line(
    figure: "Figure",
    columns: Sequence[str],
    rows: Sequence[Sequence["Cell"]],
    name: str,
    color: str,
) -> None:
    index = columns.index(name)
    points = [
        (row[0], row[index])
        for row in rows
        if isinstance(row[0], int) and isinstance(row[index], int | float)
    ]
    if points:
        steps, sizes = zip(*points, strict=True)
        figure.plot(steps, sizes, label=name, lc=color)


def _tick(value: float, chars: int, delta: float, left: bool = False) -> str:
    """Return a label of an axis, padded to `chars`; ``left`` means a step, otherwise bytes."""
    del delta
    text = f"{value:.0f}" if left else human_bytes(value)
    return text.ljust(chars) if left else text.rjust(chars)


def write_bars(columns: Sequence[str], rows: Sequence[Sequence["Cell"]], stream: TextIO) -> None:
    """Write a bar for each row with the size of its first byte column, and its share."""
    index = next(index for index, name in enumerate(columns) if counts_bytes(name))
    sizes = [size if isinstance(size := row[index], int | float) else 0 for row in rows]
    labels = [_label(columns, row, index) for row in rows]
    width = max(map(len, [*labels, columns[index]]), default=0)
    room = max(10, shutil.get_terminal_size().columns - width - 24)
    largest, total = max(map(abs, sizes), default=0), sum(map(abs, sizes))
    for label, size in zip(labels, sizes, strict=True):
        share = share_text(size / total) if total else ""
        bar = bar_text(abs(size) / largest * room if largest else 0)
        stream.write(f"{label:<{width}}  {human_bytes(size):>10} {share:>7}  {bar}\n")


def _label(columns: Sequence[str], row: Sequence["Cell"], end: int) -> str:
    """Return the strings before the byte column, without counts."""
    texts = [
        line_text(name, cell)
        for name, cell in zip(columns[:end], row, strict=False)
        if name not in ("values", "allocations")
    ]
    label = ":".join(texts)
    return label if len(label) <= _LONGEST_LABEL else f"…{label[1 - _LONGEST_LABEL :]}"


def bar_text(length: float) -> str:
    """Return a bar of ``length`` characters, rounded to eighths."""
    whole, part = divmod(round(length * 8), 8)
    return _BAR * whole + _PARTS_OF_BAR[part].strip()
