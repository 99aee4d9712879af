"""Rows of many compilations as one Parquet file for each table, bounded in memory.

A relationship's ends are written as keys, which is what the embedded engine copies from.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final, cast

import pyarrow as pa
import pyarrow.parquet as pq

# Rows and bytes that wait in memory for their row group. Smaller groups cost the engine
# time; larger ones only memory.
_GROUP_ROWS: Final = 64_000
_GROUP_BYTES: Final = 8 << 20

# Columns without repetition: trying a dictionary for them doubled the time to write.
_PLAIN: Final = frozenset({"key", "from", "to", "text", "label"})


class RowFiles:
    """Parquet files below a folder, one for each table that has rows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: dict[str, list[pa.Table]] = {}
        self._waiting_rows: dict[str, int] = {}
        self._waiting_bytes: dict[str, int] = {}
        self._writers: dict[str, pq.ParquetWriter] = {}
        self.counts: dict[str, int] = {}
        """Rows by table, in the order in which the tables got their first."""

    def add(self, name: str, rows: pa.Table) -> None:
        """Append rows to a table's file."""
        if not rows.num_rows:
            return
        self.counts[name] = self.counts.get(name, 0) + rows.num_rows
        self._waiting.setdefault(name, []).append(rows)
        self._waiting_rows[name] = self._waiting_rows.get(name, 0) + rows.num_rows
        self._waiting_bytes[name] = self._waiting_bytes.get(name, 0) + rows.nbytes
        if self._waiting_rows[name] >= _GROUP_ROWS or self._waiting_bytes[name] >= _GROUP_BYTES:
            self._flush(name)

    def path(self, name: str) -> Path:
        """Say where a table's rows stand; complete after `close`."""
        return self._folder / f"{name}.parquet"

    def close(self) -> None:
        """Write what waits and finish the files."""
        for name in list(self._waiting):
            self._flush(name)
        while self._writers:
            self._writers.popitem()[1].close()

    def _flush(self, name: str) -> None:
        tables = self._waiting.pop(name, [])
        if not tables:
            return
        self._waiting_rows[name] = self._waiting_bytes[name] = 0
        rows = pa.concat_tables(tables)
        writer = self._writers.get(name)
        if writer is None:
            repeated = [field.name for field in rows.schema if field.name not in _PLAIN]
            writer = self._writers[name] = pq.ParquetWriter(
                self.path(name),
                rows.schema,
                compression="snappy",
                use_dictionary=cast("bool", repeated or False),  # the stubs know no list
                write_statistics=False,
            )
        writer.write_table(rows, row_group_size=2 * _GROUP_ROWS)

    def abandon(self) -> None:
        """Let go of the files, finished or not."""
        self._waiting.clear()
        while self._writers:
            with suppress(OSError):  # the disk may be full
                self._writers.popitem()[1].close()
