"""Test runs of queries on an empty graph: an engine may refuse what no rule forbids."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from xlagraph.graph import GraphError, open_graph
from xlagraph.queries.catalogue.declarations import LiteralType, ParameterValue
from xlagraph.queries.catalogue.query_files import Query

_LINE: Final = re.compile(r" *\(line: (\d+), offset: \d+\)")
_VALUES: Final[dict[LiteralType, ParameterValue]] = {
    LiteralType.STRING: "",
    LiteralType.INTEGER: 1,
    LiteralType.FLOAT: 0.5,
    LiteralType.BOOLEAN: True,
}


def engine_refusals(queries: Iterable[Query]) -> Iterator[str]:
    """Yield the refusals of the embedded engine: file, line if known, message."""
    with (
        TemporaryDirectory(prefix="xlagraph-") as folder,
        open_graph(Path(folder) / "empty.lbug", create=True) as graph,
    ):
        for query in queries:
            given = {
                each.name: query.defaults.get(each.name, _VALUES[each.type])
                for each in query.parameters
            }
            try:
                graph.query(query.text, given)
            except GraphError as error:
                message, *_ = str(error).splitlines()
                line = _LINE.search(message)
                location = f"{query.path}:{line[1] if line else _first_line(query)}"
                yield f"{location}: the engine refuses it: {_LINE.sub('', message)}"


def _first_line(query: Query) -> int:
    lines = query.text.splitlines()
    return next(number for number, line in enumerate(lines, start=1) if not line.startswith("//"))
