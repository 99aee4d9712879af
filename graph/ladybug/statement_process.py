"""Runs a user's statement in a separate process, which may die.

Some statements end the process of the engine, by a stack overflow for example.
"""

import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Final, cast

from xlagraph.graph.engine import Cell, Graph, Result
from xlagraph.graph.errors import GraphError, QueryFailed
from xlagraph.runtime.child_process import ChildEnded, ChildProcess

_PROGRAM: Final = "xlagraph.graph.ladybug.statement_process:statement_results"


Opener = Callable[[Path], AbstractContextManager[Graph]]
"""A function of a module, which opens a graph file."""


def query_in_process(
    opener: Opener,
    path: Path,
    text: str,
    parameters: Mapping[str, Cell],
    timeout_seconds: float | None = None,
) -> Result:
    """Return a statement's rows on a graph file.

    Raises QueryFailed if its process dies, takes longer, or needs the memory that other
    processes have.
    """
    import psutil  # other commands do not need it

    with closing(ChildProcess(_PROGRAM)) as child:
        try:
            answer = child.ask(
                (opener, path, text, parameters),
                most_seconds=timeout_seconds,
                most_bytes=psutil.virtual_memory().available,
            )
        except TimeoutError as error:
            raise QueryFailed(f"the statement took longer than {timeout_seconds:g} s") from error
        except MemoryError as error:
            raise QueryFailed("the statement needs more memory than this machine has") from error
        except ChildEnded as ended:
            raise QueryFailed(
                f"the embedded engine ended at this statement ({ended}): write it in another way"
            ) from ended
    found = cast("Result | GraphError", pickle.loads(answer))  # noqa: S301  from our program
    if isinstance(found, GraphError):
        raise found
    return found


def statement_results(
    tasks: Iterator[tuple[Opener, Path, str, Mapping[str, Cell]]],
) -> Iterator[bytes]:
    """Yield the pickled result or error of each statement."""
    for opener, path, text, parameters in tasks:
        found: Result | GraphError
        try:
            with opener(path) as graph:
                found = graph.query(text, parameters)
        except GraphError as error:
            found = error
        yield pickle.dumps(found)
