"""The command line: `xlagraph`, a thin layer over ingest, graph and queries."""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and give the exit code; the arguments of the process by default."""
    try:
        from xlagraph.cli.app import main as run

        return run(arguments)
    except KeyboardInterrupt:  # while the app was still being imported
        sys.stderr.write("interrupted\n")
        return 130
