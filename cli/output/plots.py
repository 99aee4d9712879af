"""Plots in a terminal: a series as lines over its steps, groups as bars."""

import os
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TextIO

from xlagraph.cli.output.cells import cell_text
from xlagraph.graph.byte_sizes import counts_bytes, human_bytes, share_text

if TYPE_CHECKING:
    from plotille import Figure  # type: ignore[import-untyped]

    from xlagraph.graph import Cell

__all__ = ["bar_text", "write_bars", "write_series"]

_HEIGHT: Final = 16
"""Lines of a plot, so that it stands on a screen with what was typed."""
_AXIS_WIDTH: Final = 24
"""Taken by the numbers beside a plot and the name of its axis."""
_LONGEST_LABEL: Final = 48
_BAR: Final = "█"
_PARTS_OF_BAR: Final = " ▏▎▍▌▋▊▉"
_COLORS: Final = ("blue", "red", "green", "magenta", "cyan", "yellow")


def write_series(columns: Sequence[str], rows: Sequence[Sequence["Cell"]], stream: TextIO) -> None:
    """Write the byte columns of rows as lines over the first column."""
    import plotille

    has_colors = stream.isatty() and not os.environ.get("NO_COLOR")
    named = [name for name in columns if counts_bytes(name)]
    if not has_colors:  # lines would look alike: the last, physical one stays
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
    # a first column of one step has no width
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
    """Return a number at an axis, padded to `chars`; steps are those that are ``left``."""
    del delta
    text = f"{value:.0f}" if left else human_bytes(value)
    return text.ljust(chars) if left else text.rjust(chars)


def write_bars(columns: Sequence[str], rows: Sequence[Sequence["Cell"]], stream: TextIO) -> None:
    """Write a bar for each row: as long as the first of its byte columns, with its share."""
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
    """Return the texts before the bytes; a count among them is not a name."""
    texts = [
        cell_text(name, cell)
        for name, cell in zip(columns[:end], row, strict=False)
        if name not in ("values", "allocations")
    ]
    label = ":".join(texts)
    return label if len(label) <= _LONGEST_LABEL else f"…{label[1 - _LONGEST_LABEL :]}"


def bar_text(length: float) -> str:
    """Return a bar of so many characters, to an eighth of one."""
    whole, part = divmod(round(length * 8), 8)
    return _BAR * whole + _PARTS_OF_BAR[part].strip()
