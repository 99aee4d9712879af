"""The program that runs a user's statement on a graph file; see `statement_process`."""

import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path

from xlagraph.graph.engine import Cell, Result
from xlagraph.graph.errors import GraphError
from xlagraph.graph.ladybug.engine import LadybugGraph

__all__ = ["statement_results"]


def statement_results(tasks: Iterator[tuple[Path, str, Mapping[str, Cell]]]) -> Iterator[bytes]:
    """Yield the pickled result or error of each statement."""
    for path, text, parameters in tasks:
        found: Result | GraphError
        try:
            with LadybugGraph(path, create=False, wait=False, notify=lambda _: None) as graph:
                found = graph.query(text, parameters)
        except GraphError as error:
            found = error
        yield pickle.dumps(found)
