"""Rows of many compilations as Parquet files, some for each table, bounded in memory.

A relationship's ends are written as keys, which is what the embedded engine copies from.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final, cast

import pyarrow as pa
import pyarrow.parquet as pq

from xlagraph.graph.rows.tables import RELATIONSHIP_COLUMNS

# Rows and bytes that wait in memory for their row group. Smaller groups cost the engine
# time; larger ones only memory.
_GROUP_ROWS: Final = 64_000
_GROUP_BYTES: Final = 8 << 20

# Rows after which a table goes on in another file, as the engine fails where one COPY needs
# more memory than its pool has: three million nodes with 256 MiB, about four times as many
# with the 1 GiB that it is given. Another COPY into the same table costs time instead.
_FILE_NODES: Final = 2_000_000
_FILE_RELATIONSHIPS: Final = 8_000_000

# Columns without repetition: trying a dictionary for them doubled the time to write.
_PLAIN: Final = frozenset({"key", "source", "target", "text", "label"})


class RowFiles:
    """Parquet files below a folder for each table that has rows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: dict[str, list[pa.Table]] = {}
        self._waiting_rows: dict[str, int] = {}
        self._waiting_bytes: dict[str, int] = {}
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._paths: dict[str, list[Path]] = {}
        self._file_rows: dict[str, int] = {}
        self.counts: dict[str, int] = {}
        """Rows by table, in the order in which the tables got their first."""

    def add(self, name: str, rows: pa.Table) -> None:
        """Append rows to a table."""
        if not rows.num_rows:
            return
        self.counts[name] = self.counts.get(name, 0) + rows.num_rows
        self._waiting.setdefault(name, []).append(rows)
        self._waiting_rows[name] = self._waiting_rows.get(name, 0) + rows.num_rows
        self._waiting_bytes[name] = self._waiting_bytes.get(name, 0) + rows.nbytes
        if self._waiting_rows[name] >= _GROUP_ROWS or self._waiting_bytes[name] >= _GROUP_BYTES:
            self._flush(name)

    def paths(self, name: str) -> list[Path]:
        """Say where a table's rows stand; complete after `close`."""
        return self._paths.get(name, [])

    def close(self) -> None:
        """Write what waits and finish the files."""
        for name in list(self._waiting):
            self._flush(name)
        while self._writers:
            self._writers.popitem()[1].close()

    def _flush(self, name: str) -> None:
        self._waiting_rows[name] = self._waiting_bytes[name] = 0
        rows = pa.concat_tables(self._waiting.pop(name))
        if name not in self._writers:
            self._open(name, rows.schema)
        self._writers[name].write_table(rows, row_group_size=2 * _GROUP_ROWS)
        self._file_rows[name] += rows.num_rows
        most = _FILE_RELATIONSHIPS if name in RELATIONSHIP_COLUMNS else _FILE_NODES
        if self._file_rows[name] >= most:
            self._writers.pop(name).close()

    def _open(self, name: str, schema: pa.Schema) -> None:
        paths = self._paths.setdefault(name, [])
        paths.append(self._folder / f"{name}.{len(paths)}.parquet")
        repeated = [field.name for field in schema if field.name not in _PLAIN]
        self._writers[name] = pq.ParquetWriter(
            paths[-1],
            schema,
            compression="snappy",
            use_dictionary=cast("bool", repeated or False),  # the stubs know no list
            write_statistics=False,
        )
        self._file_rows[name] = 0

    def abandon(self) -> None:
        """Let go of the files, finished or not."""
        self._waiting.clear()
        while self._writers:
            with suppress(OSError):  # the disk may be full
                self._writers.popitem()[1].close()
