"""Run a program so that XLA dumps what it compiles.

Only the environment of the program changes, so that it does not matter which framework it uses.
"""

import os
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Final

from xlagraph.ingest.files.discovery import find_dumps
from xlagraph.ingest.problems.errors import FlagsUnusable

__all__ = [
    "dump_folder_in_flags",
    "dump_variables",
    "new_dump_folder",
    "recording_name",
    "remove_unread_files",
    "run_program",
]

_FLAGS: Final = "XLA_FLAGS"
_DUMP_TO: Final = "--xla_dump_to"
_AS_TEXT: Final = "--xla_dump_hlo_as_text"
"""Needed only where the flags ask for another form, which replaces the text."""

_DEFAULTS: Final = {
    # PyTorch/XLA writes source lines into the module text only if both are set
    "XLA_IR_DEBUG": "1",
    "XLA_HLO_DEBUG": "1",
}
"""Set unless the environment has them."""

# a program that JAX finds in its cache is not compiled, and so not dumped
_NO_CACHE: Final = {"JAX_ENABLE_COMPILATION_CACHE": "false"}

_PASSED_ON: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def dump_folder_in_flags(environment: Mapping[str, str]) -> Path | None:
    """Return the folder that ``XLA_FLAGS`` of an environment dumps to; None if it names none.

    Raises FlagsUnusable if the dumps do not go into files, or the flags cannot be read.
    """
    named = [value for name, value in _flags(environment) if name == _DUMP_TO]
    if not named:
        return None
    if named[-1] in ("", "-"):
        raise FlagsUnusable(f"expected a folder in {_DUMP_TO} of {_FLAGS}, found '{named[-1]}'")
    return Path(named[-1]).absolute()


def dump_variables(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables to set for XLA to dump into a folder everything that it compiles.

    Flags are added to those in ``XLA_FLAGS`` of the environment; each of those stays as it is,
    also one that names another folder. Raises FlagsUnusable as `dump_folder_in_flags` does.
    """
    present = {name for name, _ in _flags(environment)}
    added = {_DUMP_TO: f"{_DUMP_TO}={_quoted(folder.absolute())}", _AS_TEXT: _AS_TEXT}
    flags = [
        environment.get(_FLAGS, "").strip(),
        *(flag for name, flag in added.items() if name not in present),
    ]
    defaults = {name: value for name, value in _DEFAULTS.items() if name not in environment}
    return {_FLAGS: " ".join(filter(None, flags)), **_NO_CACHE, **defaults}


def new_dump_folder(folder: Path) -> Path:
    """Make a folder for dumps, with its parents; FileExistsError if there is something in it."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(
            f"expected a new or empty folder, found files in {folder}: XLA numbers the modules of"
            " each program from 0, so that two programs would be mixed up; name another folder"
        )
    return folder


def recording_name(command: Sequence[str], started: datetime) -> str:
    """Return a name for the run of a program: its script or itself, and the second it started."""
    script = next((word for word in command if word.endswith(".py")), command[0])
    return f"{Path(script).name.removesuffix('.py')}-{started:%Y%m%d-%H%M%S}"


def run_program(
    command: Sequence[str], variables: Mapping[str, str], stdout: int | None = None
) -> int:
    """Run a program with variables added to the environment, and return its exit code.

    What it writes on stdout goes to the file descriptor `stdout`, or to that of this process.

    That is 128 + N, as in a shell, if signal N ended it. SIGINT, SIGTERM and SIGHUP are passed
    on to the program; this process goes on when the program has ended. To be called from the main
    thread. Raises OSError if the program cannot be started.
    """
    program: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        if program is None:
            early.append(number)
        elif number != signal.SIGINT or not _is_in_foreground():
            program.send_signal(number)

    # what is ignored, as under nohup, is ignored by the program too: a handler would end that
    numbers = [number for number in _PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN]
    handlers = {number: signal.signal(number, pass_on) for number in numbers}
    try:
        changed = {**os.environ, **variables}
        program = subprocess.Popen(  # noqa: S603  the user's own program
            command, env=changed, stdout=stdout
        )
        for number in early:
            program.send_signal(number)
        code = program.wait()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def remove_unread_files(folder: Path) -> None:
    """Remove the files below a folder of dumps that no ingest reads, and folders left empty.

    Nothing is removed where something is wrong with a dump, or where there is none.
    """
    found = find_dumps(folder)
    if found.problems or not found.dumps:
        return
    sources = (source for dump in found.dumps for source in dump.sources)
    read = {part.path for source in sources for part in source.parts}
    for path in sorted(folder.rglob("*"), reverse=True):  # what is in a folder comes before it
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path not in read:
            path.unlink()


def _flags(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return name and value of each flag; a flag without ``=`` has an empty value."""
    text = environment.get(_FLAGS, "").strip()
    if text and not text.startswith("-"):  # XLA takes it for the name of a file
        raise FlagsUnusable(
            f"expected flags in {_FLAGS}, found the name of a file, '{text[:80]}'; write the flags"
            " of that file into the variable"
        )
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise FlagsUnusable(f"{_FLAGS} cannot be read: {error}") from None
    return [(name, value) for name, _, value in (word.partition("=") for word in words)]


def _quoted(folder: Path) -> str:
    """Return a path as the value of a flag; XLA ends a value without quotes at a space."""
    text = str(folder)
    if not any(character.isspace() or character in "\"'\\" for character in text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _is_in_foreground() -> bool:
    """Return whether Ctrl-C of a terminal reaches this process and all that it started."""
    try:
        with Path("/dev/tty").open() as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:  # there is no terminal
        return False
