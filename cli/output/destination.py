"""Destination of rows and pictures: stdout, or a file that is written atomically."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TextIO, TypeVar

from xlagraph.cli.output.columns import choose_columns, shown_columns
from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.formats import WRITERS, Format, PictureFormat, write_whole_table
from xlagraph.cli.output.messages import discard, note

if TYPE_CHECKING:
    from xlagraph.graph import Cell
    from xlagraph.queries import Answer


Row = TypeVar("Row")

_MOST_FOR_PEOPLE: Final = 100


class OutputTarget(Protocol):
    """The destination of data."""

    @property
    def output(self) -> Path | None:
        """Path of the output file; stdout if None."""


class RowTarget(OutputTarget, Protocol):
    """Destination of rows, and the chosen columns."""

    @property
    def columns(self) -> str | None:
        """The chosen columns, separated by commas; None if the format chooses."""

    @property
    def wide(self) -> bool:
        """True if a table shows every column."""


class Destination(RowTarget, Protocol):
    """Destination and format of rows."""

    @property
    def format(self) -> Format:
        """Format of the rows."""


class PictureDestination(RowTarget, Protocol):
    """Destination and format of a picture."""

    @property
    def format(self) -> PictureFormat:
        """Format of the picture."""


class OutputError(OSError):
    """Stdout or the file of ``--output`` cannot be written."""


def write_rows(
    columns: Sequence[str], rows: Sequence[Sequence["Cell"]], destination: Destination
) -> None:
    """Write rows in the format and to the destination that the user chose.

    A table may hide columns, and a note names them; see `shown_columns`. Raises UsageError
    if a chosen column does not exist.
    """
    _write_rows(columns, rows, destination.format, destination)


def _write_rows(
    columns: Sequence[str],
    rows: Sequence[Sequence["Cell"]],
    format_: Format,
    target: RowTarget,
) -> None:
    if target.columns is not None or target.wide or format_ is not Format.TABLE:
        selected = choose_columns(columns, rows, target.columns)
    else:
        fitting = _fitting_terminal if _is_shown(target) else _every_column
        selected, left_out = shown_columns(columns, rows, fitting)
        if rows and left_out.text:
            note(left_out.text)
    is_chosen = target.columns is not None and format_ is Format.TABLE
    with open_output(target) as stream:
        (write_whole_table if is_chosen else WRITERS[format_])(*selected, stream)


def _fitting_terminal(columns: Sequence[str], rows: Sequence[Sequence["Cell"]]) -> Sequence[int]:
    from xlagraph.cli.output.terminal import fitting_columns  # rich takes 50 ms to import

    return fitting_columns(columns, rows, sys.stdout)


def _every_column(columns: Sequence[str], rows: Sequence[Sequence["Cell"]]) -> Sequence[int]:
    del rows
    return range(len(columns))


def is_page(destination: Destination) -> bool:
    """Return whether to write a page of sentences and tables instead of rows.

    Chosen columns always mean rows.
    """
    return destination.format in (Format.TABLE, Format.MD) and destination.columns is None


def first_rows(rows: Sequence[Row], limit: int | None, format_: Format) -> Sequence[Row]:
    """Return the rows within a limit, 0 for no limit; write a note if some are left out.

    The default is the first hundred in formats for people, and all rows in the others.
    """
    usual = _MOST_FOR_PEOPLE if format_ in (Format.TABLE, Format.MD) else 0
    most = usual if limit is None else limit
    if not most or len(rows) <= most:
        return rows
    note(f"showing the first {most} of {len(rows)} rows (--limit 0 for all)")
    return rows[:most]


def write_answer(
    answer: "Answer", destination: Destination, *, is_plotted: bool | None = None
) -> None:
    """Write or plot the rows of a canned query, and its notes.

    By default a series is plotted on a terminal.
    """
    for text in answer.notes:
        note(text)
    if not answer.result.rows:
        note_no_rows(answer, destination.format)
    elif _is_plotted(answer, destination) if is_plotted is None else is_plotted:
        _write_plot(answer, destination)
        return
    write_rows(answer.result.columns, answer.result.rows, destination)


def note_no_rows(answer: "Answer", format_: Format) -> None:
    """Write the meaning of no rows, if the format is a table."""
    if format_ is Format.TABLE:
        note(answer.empty)


def _is_plotted(answer: "Answer", destination: Destination) -> bool:
    is_usual = destination.format is Format.TABLE and destination.columns is None
    is_series = answer.query.kind == "series"
    return is_series and is_usual and not destination.wide and _is_shown(destination)


def _is_shown(target: OutputTarget) -> bool:
    return target.output is None and sys.stdout.isatty()


def _write_plot(answer: "Answer", destination: Destination) -> None:
    from xlagraph.cli.output.terminal import write_bars, write_series

    write = write_series if answer.query.kind == "series" else write_bars
    with open_output(destination) as stream:
        write(answer.result.columns, answer.result.rows, stream)


@contextmanager
def open_output(destination: OutputTarget) -> Iterator[TextIO]:
    """Yield the stream for data: stdout, or a file that is renamed into place at the end."""
    if destination.output is None:
        with _closed_pipe_ignored(), _as_output_error("stdout"):
            yield sys.stdout
            sys.stdout.flush()
    else:
        with open_atomically(destination.output) as stream:
            yield stream


@contextmanager
def _closed_pipe_ignored() -> Iterator[None]:
    # `| head` has read enough: discard the rest and keep the exit code
    try:
        yield
    except BrokenPipeError:
        discard(sys.stdout)


@contextmanager
def _as_output_error(target: str | Path) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror}") from error


@contextmanager
def open_atomically(path: Path) -> Iterator[TextIO]:
    """Yield a stream to a file that exists only if the context ends without an error."""
    target = path.resolve()
    if target.exists() and not target.is_file():  # a device or a pipe cannot be replaced
        with _as_output_error(path), target.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        return
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with _as_output_error(path):
            with unfinished.open("w", encoding="utf-8", newline="") as stream:
                yield stream
            if target.exists():
                unfinished.chmod(target.stat().st_mode)
            unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def write_picture(answer: "Answer", destination: PictureDestination) -> None:
    """Write the picture of a canned query, and its notes."""
    from xlagraph.queries.graph_formats import dot, graphml, mermaid
    from xlagraph.queries.picture import picture_of

    drawing = {
        PictureFormat.DOT: dot,
        PictureFormat.MERMAID: mermaid,
        PictureFormat.GRAPHML: graphml,
    }
    if destination.columns is not None and destination.format in drawing:
        raise UsageError(
            f"--columns selects columns of rows, but --format {destination.format} draws a picture"
        )
    for text in answer.notes:
        note(text)
    picture = picture_of(answer.result)
    if not picture.nodes:
        note("nothing to draw")
    if destination.format in drawing:
        with open_output(destination) as stream:
            stream.write(drawing[destination.format](picture))
    else:
        edges = picture.edge_table()
        _write_rows(edges.columns, edges.rows, Format(destination.format), destination)
