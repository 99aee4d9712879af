"""Sentences: wrapped at words where somebody reads them on a terminal, else as they are."""

import os
import textwrap
from typing import Final, TextIO

from xlagraph.cli.output.cells import escape_control_characters

__all__ = ["write_prose"]

_USUAL_COLUMNS: Final = 80
_NARROWEST: Final = 20
"""However deep the indent, so many columns are left for the text."""


def write_prose(text: str, stream: TextIO, *, indent: int = 0) -> None:
    """Write a line; on a terminal wrapped at words, its later lines indented by some spaces.

    A word that is longer than a line stays whole: paths and keys are copied.
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
    """Return the width of the terminal that a stream is; COLUMNS wins, as everywhere."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_COLUMNS
    except OSError:
        return _USUAL_COLUMNS
