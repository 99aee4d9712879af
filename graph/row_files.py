"""Rows of compilations in Parquet files, which the process that makes them writes.

The embedded engine copies from them; other processes only pass their paths on.
"""

import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from xlagraph.graph.errors import RowsUnwritten
from xlagraph.graph.row_tables import (
    NODE_COLUMNS,
    RELATIONSHIP_COLUMNS,
    CompilationRows,
    Origin,
    distinct_rows,
    origins_of,
)
from xlagraph.graph.schema import SHARED_TABLES

# Total bytes of all tables that wait in memory until their row group is full. Smaller groups
# take the engine more time; larger ones only take memory.
_WAITING_BYTES: Final = 16 << 20
_GROUP_ROWS: Final = 128_000


@dataclass(frozen=True, slots=True)
class RowFiles:
    """The rows of some compilations in a folder, one file for each table that has rows."""

    folder: Path
    counts: Mapping[str, int]
    """Number of rows of each table that has rows."""
    origins: Mapping[str, Origin]
    """The origin of each compilation by key."""

    @classmethod
    def write(cls, parent: Path, tables: Iterable[tuple[str, pa.Table]]) -> "RowFiles":
        """Write named tables into a new folder below ``parent``, created with the first table.

        Rows of a table that come later are added. Raises `RowsUnwritten`, and whatever comes out
        of ``tables``.
        """
        folder = parent / f"rows-{uuid.uuid4().hex}"
        origins: dict[str, Origin] = {}
        with ExitStack() as stack:
            files = {
                name: stack.enter_context(_RowFile(folder / f"{name}.parquet", columns))
                for name, columns in {**NODE_COLUMNS, **RELATIONSHIP_COLUMNS}.items()
            }
            waiting_bytes = 0
            for name, table in tables:
                files[name].add(table)
                # whole buffers: `nbytes` takes twenty times as long to leave out parts of them
                waiting_bytes += table.get_total_buffer_size()
                if name == "Compilation":
                    origins |= origins_of(table)
                del table  # frees its memory before the next table is made
                if waiting_bytes >= _WAITING_BYTES:
                    for unshared in files.keys() - SHARED_TABLES:
                        files[unshared].flush()
                    waiting_bytes = 0
            for name in SHARED_TABLES:
                files[name].keep_distinct()
        counts = {name: file.row_count for name, file in files.items() if file.row_count}
        return cls(folder, counts, origins)

    def path(self, name: str) -> Path:
        """Return the file of a table that has rows."""
        return self.folder / f"{name}.parquet"

    def table(self, name: str) -> pa.Table:
        """Read a table's rows."""
        columns = NODE_COLUMNS.get(name) or RELATIONSHIP_COLUMNS[name]
        if name not in self.counts:
            return columns.empty_table()
        # `read_table` opens a dataset, which takes longer than to read a small file. The cast
        # restores the schema: Parquet names the items of a list differently.
        with pq.ParquetFile(self.path(name)) as file:
            return file.read().cast(columns)

    def read(self) -> CompilationRows:
        """Read all rows."""
        return CompilationRows(
            {name: self.table(name) for name in NODE_COLUMNS},
            {name: self.table(name) for name in RELATIONSHIP_COLUMNS},
        )

    def delete(self) -> None:
        """Remove the files."""
        shutil.rmtree(self.folder, ignore_errors=True)


class _RowFile:
    """The file of one table, created with its first rows; rows are collected until flushed."""

    def __init__(self, path: Path, columns: pa.Schema) -> None:
        self._path = path
        self._columns = columns
        self._waiting: list[pa.Table] = []
        self._writer: pq.ParquetWriter | None = None
        self.row_count = 0

    def __enter__(self) -> "_RowFile":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.flush()
        if self._writer is not None:
            with self._errors():
                self._writer.close()

    def add(self, rows: pa.Table) -> None:
        """Append rows."""
        if rows.num_rows:
            self.row_count += rows.num_rows
            self._waiting.append(rows)

    def keep_distinct(self) -> None:
        """Drop repeated rows from the collected ones."""
        if len(self._waiting) > 1:
            rows = distinct_rows(pa.concat_tables(self._waiting))
            self._waiting, self.row_count = [rows], rows.num_rows

    def flush(self) -> None:
        """Write the collected rows."""
        if not self._waiting:
            return
        rows = pa.concat_tables(self._waiting)
        self._waiting.clear()
        with self._errors():
            self._writer = self._writer or self._new_writer()
            self._writer.write_table(rows, row_group_size=_GROUP_ROWS)

    def _new_writer(self) -> pq.ParquetWriter:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # With dictionaries, even of few repeated strings, writing took a quarter longer, files were
        # no smaller, and COPY was no faster.
        return pq.ParquetWriter(
            self._path,
            self._columns,
            compression="snappy",
            use_dictionary=False,
            write_statistics=False,
        )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            folder = self._path.parent.parent
            raise RowsUnwritten(folder, error.strerror or str(error)) from error
