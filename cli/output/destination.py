"""Where rows and pictures go: stdout, or a file that appears whole or not at all."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TextIO, TypeVar

from xlagraph.cli.output.formats import WRITERS, Format, PictureFormat
from xlagraph.cli.output.messages import discard, note

if TYPE_CHECKING:
    from xlagraph.graph import Cell
    from xlagraph.queries import Answer


Row = TypeVar("Row")

_MOST_FOR_PEOPLE: Final = 100


class OutputTarget(Protocol):
    """Where data goes."""

    @property
    def output(self) -> Path | None:
        """A file; stdout if None."""


class Destination(OutputTarget, Protocol):
    """Where rows go, and in which form."""

    @property
    def format(self) -> Format:
        """How they are written."""


class PictureDestination(OutputTarget, Protocol):
    """Where a picture goes, and in which form."""

    @property
    def format(self) -> PictureFormat:
        """How it is written."""


class OutputError(OSError):
    """Stdout or the file of ``--output`` cannot be written."""


def write_rows(
    columns: Sequence[str], rows: Sequence[Sequence["Cell"]], destination: Destination
) -> None:
    """Write rows in the format and to the place that the user asked for."""
    with open_output(destination) as stream:
        WRITERS[destination.format](columns, rows, stream)


def first_rows(rows: Sequence[Row], limit: int | None, format_: Format) -> Sequence[Row]:
    """Return the rows within a limit, 0 for no limit; write a note if some are left out.

    By default people get the first hundred, and programs all.
    """
    usual = _MOST_FOR_PEOPLE if format_ in (Format.TABLE, Format.MD) else 0
    most = usual if limit is None else limit
    if not most or len(rows) <= most:
        return rows
    note(f"these are the first {most} of {len(rows)} rows; --limit 0 gives all")
    return rows[:most]


def write_answer(
    answer: "Answer", destination: Destination, *, is_plotted: bool | None = None
) -> None:
    """Write the rows of a canned query, or draw them, and the notes that help to read them.

    By default a series is drawn on a terminal.
    """
    for text in answer.notes:
        note(text)
    if not answer.result.rows:
        note("no rows")
    elif _is_plotted(answer, destination) if is_plotted is None else is_plotted:
        _write_plot(answer, destination)
        return
    write_rows(answer.result.columns, answer.result.rows, destination)


def _is_plotted(answer: "Answer", destination: Destination) -> bool:
    is_shown = destination.output is None and sys.stdout.isatty()
    return answer.query.kind == "series" and destination.format is Format.TABLE and is_shown


def _write_plot(answer: "Answer", destination: Destination) -> None:
    from xlagraph.cli.output.terminal import write_bars, write_series

    write = write_series if answer.query.kind == "series" else write_bars
    with open_output(destination) as stream:
        write(answer.result.columns, answer.result.rows, stream)


@contextmanager
def open_output(destination: OutputTarget) -> Iterator[TextIO]:
    """Yield the stream for data: stdout, or a file renamed into its place at the end."""
    if destination.output is None:
        with _closed_pipe_ignored(), _as_output_error("stdout"):
            yield sys.stdout
            sys.stdout.flush()
    else:
        with open_atomically(destination.output) as stream:
            yield stream


@contextmanager
def _closed_pipe_ignored() -> Iterator[None]:
    # `| head` has enough: what is left goes nowhere and the exit code stays what it is
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
    """Yield a stream to a file that appears whole when the context ends, or not at all."""
    target = path.resolve()
    if target.exists() and not target.is_file():  # a device or a pipe: nothing to rename over
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
    """Write the picture of a canned query, and the notes that help to read it."""
    from xlagraph.queries.pictures.graph_formats import dot, graphml, mermaid
    from xlagraph.queries.pictures.picture import picture_of

    drawing = {
        PictureFormat.DOT: dot,
        PictureFormat.MERMAID: mermaid,
        PictureFormat.GRAPHML: graphml,
    }
    for text in answer.notes:
        note(text)
    picture = picture_of(answer.result)
    if not picture.nodes:
        note("nothing to draw")
    with open_output(destination) as stream:
        if destination.format in drawing:
            stream.write(drawing[destination.format](picture))
        else:
            edges = picture.edge_table()
            WRITERS[Format(destination.format)](edges.columns, edges.rows, stream)
