"""The command line: `xlagraph`, a thin layer over ingest, graph and queries."""

from xlagraph.cli.app import main

__all__ = ["main"]
