"""Runs a user's statement in a separate process, which may die.

Some statements end the process of the engine, by a stack overflow for example.
"""

import pickle
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from xlagraph.graph.engine import Cell, Result
from xlagraph.graph.errors import GraphError, QueryFailed

__all__ = ["query_in_process"]

_PROGRAM: Final = "xlagraph.graph.ladybug.statement_program"


def query_in_process(path: Path, text: str, parameters: Mapping[str, Cell]) -> Result:
    """Return the rows of a statement on a graph file; QueryFailed if its process dies."""
    ended = subprocess.run(  # noqa: S603  the statement is not an argument
        # -P: no module of the current folder replaces one of Python's
        [sys.executable, "-P", "-m", _PROGRAM],
        input=pickle.dumps((path, text, parameters)),
        stdout=subprocess.PIPE,
        check=False,
    )
    if ended.returncode:
        name = ended.returncode < 0 and signal.strsignal(-ended.returncode)
        name = name or f"exit code {ended.returncode}"
        raise QueryFailed(
            f"the embedded engine ended at this statement ({name}): write it in another way"
        )
    found = pickle.loads(ended.stdout)  # noqa: S301  from our program
    if isinstance(found, GraphError):
        raise found
    assert isinstance(found, Result)  # noqa: S101
    return found
