"""A temporary copy of a graph in which other code counts as the user's."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, cast

import ladybug

from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.ladybug.database import open_database
from xlagraph.graph.ladybug.map_order import with_ordered_maps
from xlagraph.graph.opening import open_graph
from xlagraph.graph.statement_files import load_statement

_KEYS: Final = load_statement(__file__, "keys-of-compilations")
_SET_BY_FRAME: Final = load_statement(__file__, "set-user-lines-by-frame")
_SET_BY_LINE: Final = load_statement(__file__, "set-user-lines-by-line")


@contextmanager
def copy_with_user_lines(
    graph: Graph, by_frame: Sequence[Cell], by_line: Sequence[Cell]
) -> Iterator[Graph]:
    """Open a copy of a graph with other lines of the user; the graph itself does not change.

    The rows contain `userFile`, `userLine` and `userFunction` of the values of a `frame`, or of
    the values of a `file` and `line` that have no frame. A file is copied. The compilations of a
    server are read one by one, about a second each.
    """
    with TemporaryDirectory(prefix="xlagraph-") as folder:
        path = Path(folder) / "graph.lbug"
        if Path(graph.location).is_file():
            shutil.copyfile(graph.location, path)
        else:
            with open_graph(path, create=True) as copied, copied.load() as load:
                for (key,) in graph.query(_KEYS).rows:
                    load.write(graph.read(str(key)))
        _write(path, [(_SET_BY_FRAME, by_frame), (_SET_BY_LINE, by_line)])
        with open_graph(path) as copied:
            yield copied


def _write(path: Path, changes: Sequence[tuple[str, Sequence[Cell]]]) -> None:
    database = open_database(path)
    try:
        with ladybug.Connection(database) as connection:
            for statement, rows in changes:
                if not rows:
                    continue
                text, given = with_ordered_maps(statement, {"rows": list(rows)})
                cast("ladybug.QueryResult", connection.execute(text, given)).close()
    finally:
        database.close()
