"""How a test runs the command: in this process, or as one of its own."""

import json
import sys
from typing import NamedTuple

COMMAND = (sys.executable, "-c", "from xlagraph.cli import main; raise SystemExit(main())")
"""The command as a process of its own."""


class Ended(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


def json_rows(ended: Ended) -> list[tuple[object, ...]]:
    """Return the rows that a command wrote as JSON, without the names of columns."""
    assert ended.code == 0, ended.err
    return [tuple(row.values()) for row in json.loads(ended.out)]
