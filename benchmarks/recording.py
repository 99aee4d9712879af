"""Looks over the shoulder of a load: every compilation's rows, as ingest hands them over."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from xlagraph.graph import CompilationRows, Graph, Load, Result
from xlagraph.graph.engine import Cell
from xlagraph.graph.rows.tables import RowBatch
from xlagraph.graph.schema import SCHEMA

GROUP_ROWS = 100_000
SHARED = frozenset(node.label for node in SCHEMA.nodes if node.shared)
LINKS = tuple(
    item for item in SCHEMA.relationships if item.source in SHARED and item.target in SHARED
)


class RecordingGraph:
    """A graph that tells a sink of what is written to it."""

    def __init__(self, graph: Graph, sink: Callable[[CompilationRows], None]) -> None:
        self._graph = graph
        self._sink = sink

    @property
    def location(self) -> str:
        """As of the graph beneath."""
        return self._graph.location

    @property
    def versions(self) -> Mapping[str, str]:
        """As of the graph beneath."""
        return self._graph.versions

    @property
    def browser_page(self) -> str | None:
        """As of the graph beneath."""
        return self._graph.browser_page

    @property
    def is_new(self) -> bool:
        """As of the graph beneath."""
        return self._graph.is_new

    def query(
        self,
        text: str,
        parameters: Mapping[str, Cell] | None = None,
        *,
        timeout_seconds: float | None = None,
        most_rows: int | None = None,
    ) -> Result:
        """As of the graph beneath."""
        return self._graph.query(
            text, parameters, timeout_seconds=timeout_seconds, most_rows=most_rows
        )

    @contextmanager
    def load(self) -> Iterator[Load]:
        """Begin to write, and to tell."""
        with self._graph.load() as load:
            yield _RecordingLoad(load, self._sink)

    def read(self, compilation: str) -> CompilationRows:
        """As of the graph beneath."""
        return self._graph.read(compilation)

    def close(self) -> None:
        """Close the graph beneath."""
        self._graph.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _RecordingLoad:
    def __init__(self, load: Load, sink: Callable[[CompilationRows], None]) -> None:
        self._load = load
        self._sink = sink

    def expect_rows(self) -> None:
        self._load.expect_rows()

    def write(self, rows: CompilationRows) -> None:
        self._sink(rows)
        self._load.write(rows)

    def write_batch(self, batch: RowBatch) -> None:
        for rows in batch.split():
            self._sink(rows)
        self._load.write_batch(batch)

    def remove(self, compilation: str) -> None:
        self._load.remove(compilation)

    def tag(self, run: str, tags: Sequence[str]) -> None:
        self._load.tag(run, tags)


class KeyedRows:
    """A sink that writes one Parquet file for each table: ends by key, shared rows once.

    Shared rows that are in a graph already are left out.
    """

    def __init__(self, folder: Path, graph: Graph) -> None:
        self._folder = folder
        self._waiting: dict[str, list[pa.Table]] = {}
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._seen = {
            **{
                label: set(graph.query(f"MATCH (n:{label}) RETURN n.key AS key").rows)
                for label in SHARED
            },
            **{
                item.name: set(
                    graph.query(
                        f"MATCH (a:{item.source})-[:{item.name}]->(b:{item.target}) "
                        "RETURN a.key AS source, b.key AS target"
                    ).rows
                )
                for item in LINKS
            },
        }

    def __call__(self, rows: CompilationRows) -> None:
        """Take the rows of one compilation."""
        keys = {label: table.column("key").combine_chunks() for label, table in rows.nodes.items()}
        for label, table in rows.nodes.items():
            self._add(label, self._unseen(label, table, ["key"]) if label in SHARED else table)
        for relationship in SCHEMA.relationships:
            table = rows.relationships[relationship.name]
            ends = {
                "from": keys[relationship.source].take(table.column("source")),
                "to": keys[relationship.target].take(table.column("target")),
            }
            rest = {name: table.column(name) for name in table.column_names[2:]}
            keyed = pa.table(ends | rest)
            if relationship in LINKS:
                keyed = self._unseen(relationship.name, keyed, ["from", "to"])
            self._add(relationship.name, keyed)

    def close(self) -> None:
        """Write what waits."""
        for name in list(self._waiting):
            self._flush(name)
        for writer in self._writers.values():
            writer.close()

    def _unseen(self, name: str, table: pa.Table, columns: list[str]) -> pa.Table:
        seen = self._seen[name]
        fresh = []
        for row, key in enumerate(
            zip(*[table.column(c).to_pylist() for c in columns], strict=True)
        ):
            if key not in seen:
                seen.add(key)
                fresh.append(row)
        return table.take(pa.array(fresh, pa.int64()))

    def _add(self, name: str, table: pa.Table) -> None:
        if table.num_rows:
            waiting = self._waiting.setdefault(name, [])
            waiting.append(table)
            if sum(part.num_rows for part in waiting) >= GROUP_ROWS:
                self._flush(name)

    def _flush(self, name: str) -> None:
        table = pa.concat_tables(self._waiting.pop(name)).combine_chunks()
        if name not in self._writers:
            path = self._folder / f"{name}.parquet"
            self._writers[name] = pq.ParquetWriter(path, table.schema)
        self._writers[name].write_table(table)
