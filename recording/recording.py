"""Run a program so that XLA dumps what it compiles.

Only the environment of the program changes, so that this works with every framework.
"""

import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Final

from xlagraph.ingest.errors import FlagsUnusable
from xlagraph.ingest.files.discovery import find_dumps

_FLAGS: Final = "XLA_FLAGS"
_DUMP_TO: Final = "--xla_dump_to"
_AS_TEXT: Final = "--xla_dump_hlo_as_text"
"""Required if the flags request another form, which would otherwise replace the text."""

_DEFAULTS: Final = {
    # PyTorch/XLA writes source lines into the module text only if both are set
    "XLA_IR_DEBUG": "1",
    "XLA_HLO_DEBUG": "1",
}
"""Variables that are set unless the environment has them."""

# JAX does not compile, and so does not dump, what it finds in its cache
_NO_CACHE: Final = {"JAX_ENABLE_COMPILATION_CACHE": "false"}

_STARTUP: Final = Path(__file__).parent
"""Folder of `sitecustomize`, which each Python process imports as it starts."""

_SECONDS_BETWEEN_LOOKS: Final = 0.5
_PASSED_ON: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def dump_folder_in_flags(environment: Mapping[str, str]) -> Path | None:
    """Return the dump folder in ``XLA_FLAGS`` of an environment; None if it names none.

    Raises FlagsUnusable if the dumps do not go into files, or the flags cannot be read.
    """
    named = [value for name, value in _flags(environment) if name == _DUMP_TO]
    if not named:
        return None
    if named[-1] in ("", "-"):
        raise FlagsUnusable(f"expected a folder in {_DUMP_TO} of {_FLAGS}, found '{named[-1]}'")
    return Path(named[-1]).absolute()


def dump_variables(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that make XLA dump everything that it compiles into a folder.

    Flags are added to those in ``XLA_FLAGS`` of the environment, which are unchanged even if they
    name another folder. Raises FlagsUnusable if the flags cannot be parsed.
    """
    present = {name for name, _ in _flags(environment)}
    added = {_DUMP_TO: f"{_DUMP_TO}={_quoted(folder.absolute())}", _AS_TEXT: _AS_TEXT}
    flags = [
        environment.get(_FLAGS, "").strip(),
        *(flag for name, flag in added.items() if name not in present),
    ]
    defaults = {name: value for name, value in _DEFAULTS.items() if name not in environment}
    return {_FLAGS: " ".join(filter(None, flags)), **_NO_CACHE, **defaults}


def process_variables(
    folder: Path, environment: Mapping[str, str], *, saves_memory: bool = False
) -> dict[str, str]:
    """Return `dump_variables` that also give each Python process a folder of its own.

    The folders are `process-PID` in ``folder``; `recorded_processes` reads them. With
    ``saves_memory``, processes with jaxlib compile in the memory-optimized order on CPUs and GPUs.
    """
    paths = [str(_STARTUP), *filter(None, [environment.get("PYTHONPATH")])]
    return {
        **dump_variables(folder, environment),
        "PYTHONPATH": os.pathsep.join(paths),
        "XLAGRAPH_DUMPS": str(folder.absolute()),
        **({"XLAGRAPH_SCHEDULE": "memory"} if saves_memory else {}),
    }


def new_dump_folder(folder: Path) -> Path:
    """Create a folder for dumps, with its parents; raises FileExistsError if it is not empty."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(
            f"expected a new or empty folder, found files in {folder}: XLA numbers the modules of"
            " each program from 0, so that the dumps of two programs would mix; name another folder"
        )
    return folder


def recording_name(command: Sequence[str], started: datetime) -> str:
    """Return a run name for a program: the name of its script or command, and its start time."""
    script = next((word for word in command if word.endswith(".py")), command[0])
    return f"{Path(script).name.removesuffix('.py')}-{started:%Y%m%d-%H%M%S}"


def run_program(
    command: Sequence[str],
    variables: Mapping[str, str],
    stdout: int | None = None,
    *,
    look: Callable[[], None] = lambda: None,
) -> int:
    """Run a program with variables added to the environment, and return its exit code.

    The exit code is 128 + N, as in a shell, if signal N ended the program. Its standard output is
    the file descriptor `stdout`, or that of this process. SIGINT, SIGTERM and SIGHUP are forwarded
    to the program and do not end this process. ``look`` is called twice a second, and once at the
    end. Call this from the main thread only. Raises OSError if the program cannot be started.
    """
    program: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        if program is None:
            early.append(number)
        elif number != signal.SIGINT or not _is_in_foreground():
            program.send_signal(number)

    # the program inherits an ignored signal, as under nohup, only if there is no handler
    numbers = [number for number in _PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN]
    handlers = {number: signal.signal(number, pass_on) for number in numbers}
    try:
        changed = {**os.environ, **variables}
        program = subprocess.Popen(  # noqa: S603  the user's own program
            command, env=changed, stdout=stdout
        )
        for number in early:
            program.send_signal(number)
        while (code := _code_within(program, _SECONDS_BETWEEN_LOOKS)) is None:
            look()
        look()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def _code_within(program: "subprocess.Popen[bytes]", seconds: float) -> int | None:
    try:
        return program.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def remove_unread_files(folder: Path) -> None:
    """Remove the files below a folder of dumps that an ingest does not read, and empty folders.

    Nothing is removed if a dump has a problem, or if there are no dumps.
    """
    found = find_dumps(folder)
    if found.problems or not found.dumps:
        return
    sources = (source for dump in found.dumps for source in dump.sources)
    read = {part.path for source in sources for part in source.parts}
    for path in sorted(folder.rglob("*"), reverse=True):  # the contents before their folder
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path not in read:
            path.unlink()


def _flags(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return name and value of each flag; a flag without ``=`` has an empty value."""
    text = environment.get(_FLAGS, "").strip()
    if text and not text.startswith("-"):  # XLA treats it as a file name
        raise FlagsUnusable(
            f"expected flags in {_FLAGS}, found the name of a file, '{text[:80]}'; set the variable"
            " to the flags in that file"
        )
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise FlagsUnusable(f"{_FLAGS} cannot be read: {error}") from None
    return [(name, value) for name, _, value in (word.partition("=") for word in words)]


def _quoted(folder: Path) -> str:
    """Return a path as the value of a flag, quoted if needed: XLA splits at spaces."""
    text = str(folder)
    if not any(character.isspace() or character in "\"'\\" for character in text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _is_in_foreground() -> bool:
    """Return whether Ctrl-C in a terminal reaches this process and its children."""
    try:
        with Path("/dev/tty").open() as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:  # there is no terminal
        return False
