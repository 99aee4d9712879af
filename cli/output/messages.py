"""Messages on stderr, which are never data and never coloured, and the standard streams."""

import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from xlagraph.cli.output.cells import escape_control_characters
from xlagraph.presentation.byte_sizes import human_bytes

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

    from xlagraph.ingest import Progress as IngestProgress
_USUAL_COLUMNS: Final = 80
_NARROWEST: Final = 20
"""Columns that are left for the text at any indent."""


class Verbosity(IntEnum):
    """Amount of messages to write; errors are always written."""

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


_verbosity = Verbosity.NORMAL


def verbosity() -> Verbosity:
    """Return the current verbosity."""
    return _verbosity


def set_verbosity(level: Verbosity) -> None:
    """Set the verbosity; main resets it before each command."""
    global _verbosity
    _verbosity = level


def error(text: str) -> None:
    """Write an error, and how to fix it."""
    _write(f"error: {text}")


def problem(text: str) -> None:
    """Write a problem with part of the input, even if the command is quiet."""
    _write(text)


def note(text: str) -> None:
    """Write a note that explains the output, unless the command is quiet."""
    if _verbosity >= Verbosity.NORMAL:
        _write(text)


def detail(text: str) -> None:
    """Write a detail, only with `--verbose`."""
    if _verbosity >= Verbosity.VERBOSE:
        _write(text)


def _write(text: str) -> None:
    try:
        for line in text.split("\n"):
            write_prose(line, sys.stderr)
    except OSError:  # no reader, or a full disk: the work is still valid
        discard(sys.stderr)


def open_closed_streams() -> None:
    """Open closed standard streams (``>&-``) on the null device, before files use their number."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8")
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8")


def is_interactive() -> bool:
    """Return whether stdin and stderr are a terminal, so that a question can be asked."""
    # a stream that the caller closed is None
    streams: tuple[TextIO | None, ...] = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


def discard(stream: TextIO) -> None:
    """Discard the buffered and all later output of a stream."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def write_prose(text: str, stream: TextIO, *, indent: int = 0) -> None:
    """Write a line; on a terminal, wrap it at words and indent the continuation lines.

    A word longer than a line is not cut, because users copy paths and keys.
    """
    text = escape_control_characters(text)
    if not stream.isatty():
        stream.write(text + "\n")
        return
    lines = textwrap.wrap(
        text,
        max(_columns(stream), indent + _NARROWEST),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        expand_tabs=False,
        replace_whitespace=False,
    )
    stream.writelines(f"{line}\n" for line in lines or [""])


def _columns(stream: TextIO) -> int:
    """Return the width of a terminal; the variable COLUMNS overrides it."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_COLUMNS
    except OSError:
        return _USUAL_COLUMNS


@contextmanager
def progress_bar() -> Iterator["Callable[[IngestProgress], None] | None"]:
    """Yield a function that shows an ingest's progress; None without a terminal."""
    if not _shows_progress():
        yield None
        return
    from rich.progress import TextColumn, TimeRemainingColumn

    done = TextColumn("{task.fields[size]} after {task.elapsed:.0f} s{task.fields[left]}")
    with _bar(done, TimeRemainingColumn(), text="reading dumps") as update:

        def show(progress: "IngestProgress") -> None:
            done, total = progress.bytes_done, progress.bytes_total
            size = f"{human_bytes(done)} of {human_bytes(total)}"
            if done:
                update(done, total, Path(progress.file).name, size=size, left=", left")
            else:  # how much of the first dump is read is unknown: the bar moves to and fro
                update(0, None, "reading dumps", size=size)

        yield show


@contextmanager
def report_bar() -> Iterator["Callable[[str, float], None]"]:
    """Yield a function that shows which compilation is read for a report, and the share done."""
    if not _shows_progress():
        yield lambda _key, _share: None
        return
    from rich.progress import TaskProgressColumn, TimeElapsedColumn

    with _bar(TaskProgressColumn(), TimeElapsedColumn()) as update:
        yield lambda key, share: update(share, 1, key)


def _shows_progress() -> bool:
    return sys.stderr.isatty() and verbosity() >= Verbosity.NORMAL


class _Update(Protocol):
    """Sets what a bar shows; without a total it moves to and fro."""

    def __call__(
        self, done: float, total: float | None, text: str, size: str = "", left: str = ""
    ) -> None: ...


@contextmanager
def _bar(*columns: "ProgressColumn", text: str = "") -> Iterator[_Update]:
    """Show a bar until the end; yield a function that sets what is done, the total and the text."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    cut = Column(no_wrap=True, overflow="ellipsis", ratio=1)  # the other columns are never cut
    bar = Progress(
        BarColumn(bar_width=20),
        *columns,
        TextColumn("{task.description}", markup=False, table_column=cut),
        expand=True,
        console=Console(file=sys.stderr),
        transient=True,
    )
    with bar:
        task = bar.add_task(text, total=None, size="", left="")

        def update(
            done: float, total: float | None, text: str, size: str = "", left: str = ""
        ) -> None:
            text = escape_control_characters(text)
            bar.update(task, completed=done, total=total, description=text, size=size, left=left)

        yield update
