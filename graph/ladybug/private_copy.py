"""A private copy of a graph, changed by statements and deleted after use."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, cast

import ladybug

from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.ladybug.database import open_database
from xlagraph.graph.ladybug.map_order import with_ordered_maps
from xlagraph.graph.opening import open_graph

__all__ = ["private_copy"]

_KEYS: Final = "MATCH (c:Compilation) WHERE c.state = 'complete' RETURN c.key AS key ORDER BY key"


@contextmanager
def private_copy(
    graph: Graph, changes: Sequence[tuple[str, Mapping[str, Cell]]]
) -> Iterator[Graph]:
    """Open a copy of a graph after some writing statements; the graph itself does not change.

    A file is copied. The compilations of a server are read one by one, about a second each.
    """
    with TemporaryDirectory(prefix="xlagraph-") as folder:
        path = Path(folder) / "graph.lbug"
        if Path(graph.location).is_file():
            shutil.copyfile(graph.location, path)
        else:
            with open_graph(path, create=True) as copied, copied.load() as load:
                for (key,) in graph.query(_KEYS).rows:
                    load.write(graph.read(str(key)))
        _write(path, changes)
        with open_graph(path) as copied:
            yield copied


def _write(path: Path, changes: Sequence[tuple[str, Mapping[str, Cell]]]) -> None:
    database = open_database(path)
    try:
        with ladybug.Connection(database) as connection:
            for text, parameters in changes:
                text, given = with_ordered_maps(text, dict(parameters))
                cast("ladybug.QueryResult", connection.execute(text, given)).close()
    finally:
        database.close()
