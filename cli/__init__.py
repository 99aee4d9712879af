"""The command line: `xlagraph`, a thin layer over ingest, graph and queries."""

import sys
from collections.abc import Sequence

from xlagraph.runtime.block_imports import block_imports

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code; the arguments of the process by default."""
    if arguments is None:  # a process of our own
        block_imports()
    try:
        from xlagraph.cli.app import main as run

        return run(arguments)
    except KeyboardInterrupt:  # while the app was still being imported
        sys.stderr.write("interrupted\n")
        return 130
