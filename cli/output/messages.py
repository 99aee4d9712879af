"""What a command writes on stderr: never data, never coloured."""

import sys
from enum import IntEnum

from xlagraph.cli.output.prose import write_prose
from xlagraph.cli.output.standard_streams import discard


class Verbosity(IntEnum):
    """How much is written; errors always are."""

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


_verbosity = Verbosity.NORMAL


def verbosity() -> Verbosity:
    """Return how much is written now."""
    return _verbosity


def set_verbosity(level: Verbosity) -> None:
    """Write more or less from now on; main resets it before each command."""
    global _verbosity
    _verbosity = level


def counted(number: int, noun: str) -> str:
    """Return how many there are: `1 compilation`, `1,200 values`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def error(text: str) -> None:
    """Write what went wrong, and what to do."""
    _write(f"error: {text}")


def problem(text: str) -> None:
    """Write what is wrong with some of the input, however quiet the command is."""
    _write(text)


def note(text: str) -> None:
    """Write what helps to read the output, unless the command is quiet."""
    if _verbosity >= Verbosity.NORMAL:
        _write(text)


def detail(text: str) -> None:
    """Write what only `--verbose` asks for."""
    if _verbosity >= Verbosity.VERBOSE:
        _write(text)


def _write(text: str) -> None:
    try:
        for line in text.split("\n"):
            write_prose(line, sys.stderr)
    except OSError:  # nobody reads it, or its disk is full: what is done is done all the same
        discard(sys.stderr)
