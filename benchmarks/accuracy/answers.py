"""Answers of the command line, asked in this process."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any, cast

from xlagraph.cli import main

Row = dict[str, Any]


def text_of(graph: Path, *arguments: str) -> str:
    """Return what a command prints on stdout; an error is a line that begins with ``error:``."""
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        code = main([*arguments, "--graph", str(graph)])
    return said.getvalue() if code in (0, 4) else f"error: {complained.getvalue()[-400:]}"


def rows_of(graph: Path, *arguments: str) -> list[Row]:
    """Return the rows of a command as JSON; raise RuntimeError if it fails."""
    text = text_of(graph, *arguments, "--format", "json")
    try:
        rows = json.loads(text)
    except ValueError:
        raise RuntimeError(f"{' '.join(arguments)}: {text}") from None
    return cast("list[Row]", rows if isinstance(rows, list) else [rows])


def reserved_bytes(graph: Path) -> dict[str, int]:
    """Return the reserved bytes of each run's only compilation."""
    rows = rows_of(graph, "compilations", "--limit", "0")
    return {str(row["run"]): int(row["reservedBytes"]) for row in rows}
