"""Records the rows that an ingest writes."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from xlagraph.graph import CompilationRows, Graph, Load
from xlagraph.graph.engine import StoredRun
from xlagraph.graph.row_files import RowFiles
from xlagraph.graph.schema import SCHEMA

GROUP_ROWS = 100_000
SHARED = frozenset(node.label for node in SCHEMA.nodes if node.is_shared)
LINKS = tuple(
    relationship
    for relationship in SCHEMA.relationships
    if relationship.source in SHARED and relationship.target in SHARED
)


class RecordingTarget:
    """A graph for an ingest that passes the written rows to a sink."""

    def __init__(self, graph: Graph, sink: Callable[[CompilationRows], None]) -> None:
        self._graph = graph
        self._sink = sink

    @property
    def location(self) -> str:
        """Return the location of the graph beneath."""
        return self._graph.location

    def stored_runs(self, names: Collection[str]) -> Mapping[str, StoredRun]:
        """Return the runs of the graph beneath."""
        return self._graph.stored_runs(names)

    @contextmanager
    def load(self) -> Iterator[Load]:
        """Start a load that records."""
        with self._graph.load() as load:
            yield _RecordingLoad(load, self._sink)


class _RecordingLoad:
    def __init__(self, load: Load, sink: Callable[[CompilationRows], None]) -> None:
        self._load = load
        self._sink = sink

    @property
    def row_folder(self) -> Path | None:
        return self._load.row_folder

    def expect_rows(self) -> None:
        self._load.expect_rows()

    def watch(self, report: Callable[[float], None]) -> None:
        self._load.watch(report)

    def write(self, rows: CompilationRows) -> None:
        self._sink(rows)
        self._load.write(rows)

    def write_files(self, files: RowFiles) -> None:
        self._sink(files.read())
        self._load.write_files(files)

    def remove(self, compilation: str) -> None:
        self._load.remove(compilation)

    def tag(self, run: str, tags: Sequence[str]) -> None:
        self._load.tag(run, tags)

    def store_snapshots(self, run: str, snapshots: Sequence[str]) -> None:
        self._load.store_snapshots(run, snapshots)


class ParquetSink:
    """A sink that writes one Parquet file for each table: ends by key, shared rows once.

    Shared rows that are already in a graph are omitted.
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
                relationship.name: set(
                    graph.query(
                        f"MATCH (a:{relationship.source})-[:{relationship.name}]->"
                        f"(b:{relationship.target}) "
                        "RETURN a.key AS source, b.key AS target"
                    ).rows
                )
                for relationship in LINKS
            },
        }

    def __call__(self, rows: CompilationRows) -> None:
        """Record the rows of some compilations."""
        for label, table in rows.nodes.items():
            self._add(label, self._unseen(label, table, ["key"]) if label in SHARED else table)
        for relationship in SCHEMA.relationships:
            table = rows.relationships[relationship.name]
            keyed = table.rename_columns(["from", "to", *table.column_names[2:]])
            if relationship in LINKS:
                keyed = self._unseen(relationship.name, keyed, ["from", "to"])
            self._add(relationship.name, keyed)

    def close(self) -> None:
        """Write the buffered rows."""
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
