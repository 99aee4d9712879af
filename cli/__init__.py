"""The command line: `xlagraph`, a thin layer over ingest, graph and queries."""

import signal
import sys
from collections.abc import Sequence
from typing import Final

from xlagraph.runtime.imports import block_imports

__all__ = ["main"]

_INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; by default, use the arguments of this process."""
    is_own_process = arguments is None
    if is_own_process:
        block_imports()
    try:
        from xlagraph.cli.app import main as run

        code = run(arguments)
        if is_own_process:
            _ignore_interrupts()
    except KeyboardInterrupt:  # during the import of the app, or while it writes its message
        if is_own_process:
            _ignore_interrupts()
        sys.stderr.write("interrupted\n")
        code = _INTERRUPTED
    return code


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C while Python exits: it would print a traceback and change the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
