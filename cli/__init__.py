"""The command line: `xlagraph`, a thin layer over ingest, graph and queries."""

import sys
from collections.abc import Sequence

from xlagraph.graph.pandas_import import forbid_pandas

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and give the exit code; the arguments of the process by default."""
    if arguments is None:  # a process of our own
        forbid_pandas()
    try:
        from xlagraph.cli.app import main as run

        return run(arguments)
    except KeyboardInterrupt:  # while the app was still being imported
        sys.stderr.write("interrupted\n")
        return 130
