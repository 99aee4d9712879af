"""Runs of the command in a test: in this process, or as a separate one."""

import json
import sys
from typing import NamedTuple

COMMAND = (sys.executable, "-c", "from xlagraph.cli import main; raise SystemExit(main())")
"""The command as a separate process."""


class Ended(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def json_rows(ended: Ended) -> list[tuple[object, ...]]:
    """Return the rows that a command wrote as JSON, without column names."""
    assert ended.code == 0, ended.err
    return [tuple(row.values()) for row in json.loads(ended.out)]
