"""A graph's tables, run by run, as Parquet or CSV: one for each label and relationship type.

    FOLDER/TABLE/RUN.parquet     e.g. Value/baseline.parquet, USED_BY/baseline.parquet

A run's files are complete: nodes that runs share, such as ops and source lines, are in the
files of each run. Columns are those of the schema; a relationship has `source` and `target`, the
keys of the nodes that it joins.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from enum import Enum
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote

import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq

from xlagraph.graph.engine import Graph
from xlagraph.graph.errors import raise_unwritable
from xlagraph.graph.row_tables import (
    NODE_COLUMNS,
    RELATIONSHIP_COLUMNS,
    CompilationRows,
    SharedRows,
)
from xlagraph.queries.runner.compilations import compilations_of_run
from xlagraph.runtime.files import whole_file

_COLUMNS: Final = {**NODE_COLUMNS, **RELATIONSHIP_COLUMNS}
_ROWS_AT_ONCE: Final = 200_000
"""Rows of small compilations that are written together: many small pieces are slow to read."""

Writer = pq.ParquetWriter | pv.CSVWriter


class TableFormat(Enum):
    """Format of a table file; the value is the ending of its name."""

    PARQUET = "parquet"
    CSV = "csv"


def write_tables(graph: Graph, runs: Sequence[str], folder: Path, format_: TableFormat) -> None:
    """Write all tables of some runs, by name; their files are replaced, others stay.

    In CSV, strings are quoted, null is empty, and tags are a JSON array. Raises
    GraphUnwritable.
    """
    for run in runs:
        with raise_unwritable(folder), _files_of_run(run, folder, format_) as writers:
            shared = SharedRows()
            for rows in _gathered(graph, compilations_of_run(graph, run)):
                for name, table in shared.drop_seen(rows):
                    if name != "Run":
                        writers[name].write_table(_in_file(table, format_))
            writers["Run"].write_table(_in_file(rows.nodes["Run"], format_))


def _gathered(graph: Graph, compilations: Sequence[str]) -> Iterator[CompilationRows]:
    """Yield the rows of compilations; small compilations are joined."""
    waiting: list[CompilationRows] = []
    for compilation in sorted(compilations):
        waiting.append(graph.read(compilation))
        if sum(rows.count() for rows in waiting) >= _ROWS_AT_ONCE:
            yield CompilationRows.joined(waiting)
            waiting = []
    if waiting:
        yield CompilationRows.joined(waiting)


@contextmanager
def _files_of_run(run: str, folder: Path, format_: TableFormat) -> Iterator[dict[str, Writer]]:
    """Yield a writer for each table; its files take their names when all of them are written."""
    with ExitStack() as files, ExitStack() as opened:
        writers: dict[str, Writer] = {}
        for name, columns in _COLUMNS.items():
            path = folder / name / f"{quote(run, safe=' ')}.{format_.value}"
            path.parent.mkdir(parents=True, exist_ok=True)
            writers[name] = _open(files.enter_context(whole_file(path)), columns, format_)
            opened.callback(writers[name].close)
        yield writers


def _open(path: Path, columns: pa.Schema, format_: TableFormat) -> Writer:
    if format_ is TableFormat.PARQUET:
        return pq.ParquetWriter(path, columns)
    return pv.CSVWriter(path, _in_file(columns.empty_table(), format_).schema)


def _in_file(table: pa.Table, format_: TableFormat) -> pa.Table:
    """Return the table in a form that the format supports: CSV has no lists."""
    if format_ is TableFormat.PARQUET:
        return table
    for index, column in enumerate(table.schema):
        if pa.types.is_list(column.type):
            lists = cast("list[list[str] | None]", table.column(index).to_pylist())
            texts: pa.Array[Any] = pa.array(
                [None if each is None else json.dumps(each) for each in lists], pa.string()
            )
            table = table.set_column(index, pa.field(column.name, pa.string()), texts)
    return table
