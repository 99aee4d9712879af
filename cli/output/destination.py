"""Destination of rows and pictures: stdout, or a file that is written atomically."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO, TypeVar

from xlagraph.cli.output.columns import choose_columns
from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.formats import (
    WRITERS,
    Format,
    PictureFormat,
    shown_columns,
    write_object,
    write_whole_table,
)
from xlagraph.cli.output.messages import discard, note
from xlagraph.cli.output.shared_options import CatalogueOptions, ListOptions, OutputOptions
from xlagraph.runtime.files import whole_file

if TYPE_CHECKING:
    from xlagraph.graph import Cell
    from xlagraph.queries import Answer


Row = TypeVar("Row")

STDOUT: Final = Path("-")
_MOST_FOR_PEOPLE: Final = 100


class OutputError(OSError):
    """Stdout or the file of ``--output`` cannot be written."""


def write_rows(
    columns: Sequence[str],
    rows: Sequence[Sequence["Cell"]],
    options: ListOptions | CatalogueOptions,
    shown: Sequence[str] = (),
) -> None:
    """Write rows in the format and to the destination that the user chose.

    A table may hide columns, and a note names them; ``shown`` names the most important ones.
    Raises UsageError if a chosen column does not exist.
    """
    format_ = Format(options.format)
    if options.columns is not None or options.wide or format_ is not Format.TABLE:
        selected = choose_columns(columns, rows, options.columns)
    else:
        terminal = sys.stdout if _is_shown(options) else None
        selected, left_out = shown_columns(columns, rows, terminal, shown)
        if rows and left_out.text:
            note(left_out.text)
    write = write_whole_table if format_ is Format.TABLE else WRITERS[format_]
    with open_output(options) as stream:
        write(*selected, stream)


def write_record(
    cells: Mapping[str, "Cell"], options: ListOptions, page: Callable[[Format, TextIO], None]
) -> None:
    """Write one result: a page for people, an object in JSON, a row in the other formats."""
    if is_page(options):
        with open_output(options) as stream:
            page(options.format, stream)
    elif options.format is Format.JSON:
        columns, (row,) = choose_columns(tuple(cells), [tuple(cells.values())], options.columns)
        with open_output(options) as stream:
            write_object(dict(zip(columns, row, strict=True)), stream)
    else:
        write_rows(tuple(cells), [tuple(cells.values())], options)


def is_page(options: ListOptions) -> bool:
    """Return whether to write a page of sentences and tables instead of rows.

    Chosen columns always mean rows.
    """
    return options.format in (Format.TABLE, Format.MD) and options.columns is None


def first_rows(rows: Sequence[Row], limit: int | None, format_: Format) -> Sequence[Row]:
    """Return the rows within a limit, 0 for no limit; write a note if some are left out.

    The default is the first hundred in formats for people, and all rows in the others.
    """
    usual = _MOST_FOR_PEOPLE if format_ in (Format.TABLE, Format.MD) else 0
    most = usual if limit is None else limit
    if not most or len(rows) <= most:
        return rows
    note(f"showing the first {most} of {len(rows)} rows (limit 0 for all)")
    return rows[:most]


def write_answer(
    answer: "Answer",
    options: ListOptions,
    *,
    is_plotted: bool | None = None,
    limit: int | None = 0,
) -> None:
    """Write or plot the rows of a canned query, and its notes.

    By default a series is plotted on a terminal. ``limit`` is that of `first_rows`.
    """
    for text in answer.notes:
        note(text)
    result = answer.result
    if not result.rows and options.format is Format.TABLE:
        note(answer.empty)
    elif result.rows and (_is_plotted(answer, options) if is_plotted is None else is_plotted):
        _write_plot(answer, options)
        return
    rows = first_rows(result.rows, limit, options.format)
    write_rows(result.columns, rows, options, answer.query.shown)


def _is_plotted(answer: "Answer", options: ListOptions) -> bool:
    is_usual = options.format is Format.TABLE and options.columns is None
    is_series = answer.query.kind == "series"
    return is_series and is_usual and not options.wide and _is_shown(options)


def _is_shown(options: OutputOptions) -> bool:
    return options.output in (None, STDOUT) and sys.stdout.isatty()


def _write_plot(answer: "Answer", options: OutputOptions) -> None:
    from xlagraph.cli.output.terminal import write_bars, write_series

    write = write_series if answer.query.kind == "series" else write_bars
    with open_output(options) as stream:
        write(answer.result.columns, answer.result.rows, stream)


def open_output(options: OutputOptions) -> AbstractContextManager[TextIO]:
    """Return the stream for data: stdout, or a file that is renamed into place at the end."""
    return open_output_file(options.output or STDOUT)


@contextmanager
def open_output_file(path: Path) -> Iterator[TextIO]:
    """Yield a stream to a file that is renamed into place at the end, or to stdout for `-`."""
    if path == STDOUT:
        with _closed_pipe_ignored(), _as_output_error("stdout"):
            yield sys.stdout
            sys.stdout.flush()
    else:
        with open_atomically(path) as stream:
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
    with (
        _as_output_error(path),
        whole_file(target) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="") as stream,
    ):
        yield stream


def write_picture(answer: "Answer", options: CatalogueOptions) -> None:
    """Write the picture of a canned query, and its notes."""
    from xlagraph.queries.graph_formats import dot, graphml, mermaid, picture_of

    drawing = {
        PictureFormat.DOT: dot,
        PictureFormat.MERMAID: mermaid,
        PictureFormat.GRAPHML: graphml,
    }
    draw = drawing.get(options.format)
    if options.columns is not None and draw is not None:
        raise UsageError(
            f"--columns selects columns of rows, but --format {options.format} draws a picture"
        )
    for text in answer.notes:
        note(text)
    picture = picture_of(answer.result)
    if not picture.nodes:
        note("nothing to draw")
    if draw is None:
        edges = picture.edge_table()
        write_rows(edges.columns, edges.rows, options)
    else:
        with open_output(options) as stream:
            stream.write(draw(picture))
