"""Runs a user's statement in a separate process, which may die.

Some statements end the process of the engine, by a stack overflow for example.
"""

import pickle
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from xlagraph.graph.engine import Cell, Result
from xlagraph.graph.errors import GraphError, QueryFailed
from xlagraph.runtime.child_process import ChildEnded, ChildProcess

__all__ = ["query_in_process"]

_PROGRAM: Final = "xlagraph.graph.ladybug.statement_program:statement_results"


def query_in_process(path: Path, text: str, parameters: Mapping[str, Cell]) -> Result:
    """Return the rows of a statement on a graph file; QueryFailed if its process dies."""
    with closing(ChildProcess(_PROGRAM)) as child:
        try:
            answer = child.ask((path, text, parameters))
        except ChildEnded as ended:
            raise QueryFailed(
                f"the embedded engine ended at this statement ({ended}): write it in another way"
            ) from ended
    found = pickle.loads(answer)  # noqa: S301  from our program
    if isinstance(found, GraphError):
        raise found
    assert isinstance(found, Result)  # noqa: S101
    return found
