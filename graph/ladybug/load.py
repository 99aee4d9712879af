# ruff: noqa: D102  what the methods do is said in engine.py
"""Loads compilations into a graph file, which changes in one rename.

    1. rows go to Parquet files in `FILE.loading/` as they come; beside that
    2. the graph file is copied there, or an empty one made
    3. what is removed or replaced is deleted from the copy
    4. each table takes its rows in one COPY, or a few
    5. shared nodes that nothing uses any more are deleted, where something was removed
    6. checkpoint, compare the counts, close, fsync
    7. rename over the graph file

Before 7 nothing but `FILE.loading/` is touched; the next load removes it. The lock of the
file is held by the caller.
"""

import glob
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import compress
from pathlib import Path
from typing import Any, Final, cast

import ladybug
import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph.engine import Cell, Result
from xlagraph.graph.errors import GraphUnwritable, written
from xlagraph.graph.rows.parquet_files import RowFiles
from xlagraph.graph.rows.shared_nodes import SharedRows
from xlagraph.graph.rows.tables import CompilationRows, RowBatch, keys_of, row_numbers
from xlagraph.graph.schema import BETWEEN_SHARED, PARTS, SCHEMA, UNCHANGING, VERSION, PropertyType
from xlagraph.runtime.memory import trim_memory

BUFFER_POOL_BYTES: Final = 1 << 30
"""What the engine may keep of a file in memory; its own default is 80 % of the machine."""

NO_ADDRESSES: Final = (
    "the engine reserves 8 TiB of addresses, and this process may not (see `ulimit -v`)"
)

# The engine may say no more than that it could not read what it has written.
_LITTLE_SPACE_BYTES: Final = 1 << 20

# Rows that one transaction may take; three times the memory for six million of them.
_SMALL_ROWS: Final = 200_000

# It takes milliseconds to give back the memory of a COPY, which pays for as many rows.
_MANY_ROWS: Final = 100_000

# COPY into relationships costs by those that are there: 0.4 s for a million. To create them
# one by one costs by those that come.
_COPY_PAYS: Final = 4

_COLUMN_TYPES: Final[Mapping[PropertyType, str]] = {
    PropertyType.STRING: "STRING",
    PropertyType.INTEGER: "INT64",
    PropertyType.BOOLEAN: "BOOLEAN",
    PropertyType.STRING_LIST: "STRING[]",
}


def open_database(path: Path, *, read_only: bool = False) -> ladybug.Database:
    """Open a file with our limits; RuntimeError if the engine does not take it."""
    return ladybug.Database(path, buffer_pool_size=BUFFER_POOL_BYTES, read_only=read_only)


def create_tables(connection: ladybug.Connection) -> None:
    """Make the tables of the schema, and note its version."""
    connection.execute("CREATE NODE TABLE Schema(`key` STRING, version INT64, PRIMARY KEY(`key`))")
    connection.execute(
        "CREATE (:Schema {key: 'xlagraph', version: $version})", {"version": VERSION}
    )
    for node in SCHEMA.nodes:
        columns = ", ".join(f"`{item.name}` {_COLUMN_TYPES[item.type]}" for item in node.properties)
        connection.execute(f"CREATE NODE TABLE `{node.label}`({columns}, PRIMARY KEY(`key`))")
    for relationship in SCHEMA.relationships:
        columns = "".join(
            f", `{item.name}` {_COLUMN_TYPES[item.type]}" for item in relationship.properties
        )
        connection.execute(
            f"CREATE REL TABLE `{relationship.name}`"
            f"(FROM `{relationship.source}` TO `{relationship.target}`{columns})"
        )


def schema_version(connection: ladybug.Connection) -> int | None:
    """Read the version of the schema; None in a database that is no graph of ours."""
    try:
        rows = _rows(connection, "MATCH (s:Schema {key: 'xlagraph'}) RETURN s.version AS version")
    except RuntimeError:
        return None
    return int(str(rows[0][0])) if rows else None


@contextmanager
def loading(
    path: Path, *, query: Callable[[str], Result], release: Callable[[], None]
) -> Iterator["LadybugLoad"]:
    """Take rows, and put them into the file at the end; ``release`` closes its reader."""
    folder = path.with_name(path.name + ".loading")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        with LadybugLoad(path, folder, query) as load:
            yield load
            with written(path, ", it is as before"):
                load.close_files()
                if load.is_needed:
                    load.store(release)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class LadybugLoad:
    """What is to change, until `store` changes it."""

    def __init__(self, path: Path, folder: Path, query: Callable[[str], Result]) -> None:
        self._query = query
        self._path = path
        self._folder = folder
        self._copied = folder / "graph.lbug"
        self._beside = ThreadPoolExecutor(1)
        self._copying: Future[None] | None = None
        self._files: RowFiles | None = None
        self._written: set[str] = set()
        self._removed: set[str] = set()
        self._digests: dict[str, str | None] | None = None
        self._runs: dict[str, Mapping[str, Cell]] = {}
        self._tags: dict[str, list[str]] = {}
        self._shared = SharedRows()
        self._shared_tables: dict[str, list[pa.Table]] = {}

    @property
    def is_needed(self) -> bool:
        """Whether anything is to change."""
        return bool(self._written or self._removed or self._tags)

    def expect_rows(self) -> None:
        if self._copying is None:
            with written(self._path, ", it is as before"):
                self._folder.mkdir(exist_ok=True)
            self._copying = self._beside.submit(self._copy_file)

    def write(self, rows: CompilationRows) -> None:
        self.write_batch(RowBatch.joined([rows]))

    def write_batch(self, batch: RowBatch) -> None:
        digests = _digests_of(batch)
        for key in digests:
            if key in self._written:
                raise ValueError(f"{key} is written twice in one load")
        new = [
            key in self._removed or not digest or self._stored().get(key) != digest
            for key, digest in digests.items()
        ]
        if not all(new):
            kept = list(compress(batch.split(), new))
            if not kept:
                return
            batch = RowBatch.joined(kept)
        self._written.update(keys_of(batch.nodes["Compilation"]))
        for run in batch.nodes["Run"].to_pylist():
            self._runs[run["key"]] = run
        with written(self._path, ", it is as before"):
            self._write_files(batch)

    def remove(self, compilation: str) -> None:
        if compilation in self._written:
            raise ValueError(f"{compilation} is removed after it was written")
        if compilation in self._stored():
            self._removed.add(compilation)

    def tag(self, run: str, tags: Sequence[str]) -> None:
        self._tags[run] = list(tags)

    def close_files(self) -> None:
        """Finish the row files."""
        if self._files is not None:
            self._files.close()
        trim_memory()

    def __enter__(self) -> "LadybugLoad":
        return self

    def __exit__(self, *_: object) -> None:
        self._beside.shutdown()
        if self._files is not None:
            self._files.abandon()

    def store(self, release: Callable[[], None]) -> None:
        """Make the new file from the old one and put it in its place."""
        stale = sorted(self._removed | (self._written & self._stored().keys()))
        release()
        self.expect_rows()
        cast("Future[None]", self._copying).result()
        copy = self._copied
        try:
            database = open_database(copy)
            try:
                connection = ladybug.Connection(database)
                if not self._path.exists():
                    create_tables(connection)
                self._change(connection, stale)
                connection.execute("CHECKPOINT")
                connection.close()
            finally:
                database.close()
        except RuntimeError as error:
            raise GraphUnwritable(
                f"{self._path} could not be written, it is as before: {_reason(error, copy)}"
            ) from error
        _sync(copy)
        copy.replace(self._path)
        _sync(self._path.parent)

    def _change(self, connection: ladybug.Connection, stale: list[str]) -> None:
        if stale:
            _delete(connection, stale)
        shared = self._new_shared_rows(connection)
        before = _counts(connection)
        added = dict(shared.counts)
        if self._files is not None:
            added |= self._files.counts
        for key, run in self._runs.items():
            _set_run(connection, key, run)
        for run_key, tags in self._tags.items():
            _set_run(connection, run_key, {"tags": tags}, create=False)
        # a checkpoint after each COPY costs a third of a small load, and spares a large one memory
        is_small = sum(added.values()) < _SMALL_ROWS
        if is_small:
            connection.execute("BEGIN TRANSACTION")
        for name in [*_NODE_LABELS, *_RELATIONSHIP_TYPES]:
            for files in (shared, self._files):
                if files is not None and (count := files.counts.get(name)):
                    add = _create if is_small and count * _COPY_PAYS < before[name] else _copy
                    for path in files.paths(name):
                        add(connection, name, path)
                        if count >= _MANY_ROWS:
                            trim_memory()
        if is_small:
            connection.execute("COMMIT")
        after = _counts(connection)
        for name in before:
            expected = before[name] + added.get(name, 0)
            if name != "Run" and after[name] != expected:
                raise GraphUnwritable(
                    f"{self._path} is as before: expected {expected} rows of {name}, "
                    f"the engine kept {after[name]}"
                )
        if stale:
            _delete_orphans(connection)

    def _new_shared_rows(self, connection: ladybug.Connection) -> RowFiles:
        """Write the shared nodes that the graph does not have yet, and what leaves them."""
        folder = self._folder / "shared"
        folder.mkdir(exist_ok=True)
        new: dict[str, pa.Array[Any]] = {}
        files = RowFiles(folder)
        try:
            for label, keys in self._shared.keys.items():
                if not keys:  # the engine knows no empty list
                    continue
                stored = _rows(
                    connection,
                    f"UNWIND $keys AS wanted MATCH (n:`{label}` {{key: wanted}}) RETURN n.key",
                    {"keys": sorted(keys)},
                )
                known = {row[0] for row in stored}
                rows = pa.concat_tables(self._shared_tables[label])
                rows = rows.take(
                    row_numbers(row for row, key in enumerate(keys_of(rows)) if key not in known)
                )
                new[label] = rows.column("key").combine_chunks()
                files.add(label, rows)
            for item in BETWEEN_SHARED:
                if item.source in new:
                    rows = pa.concat_tables(self._shared_tables[item.name])
                    is_new = pc.is_in(rows.column("source"), value_set=new[item.source])
                    files.add(item.name, rows.filter(is_new))
            files.close()
        finally:
            files.abandon()
        return files

    def _copy_file(self) -> None:
        if self._path.exists():
            shutil.copy(self._path, self._copied)

    def _write_files(self, batch: RowBatch) -> None:
        files = self._open_files()
        for name, table in self._shared.unseen(batch.nodes, batch.keyed_relationships()):
            if name in _SHARED_TABLES:
                self._shared_tables.setdefault(name, []).append(table)
            elif name != "Run":
                files.add(name, table)

    def _open_files(self) -> RowFiles:
        if self._files is None:
            self._folder.mkdir(exist_ok=True)
            self._files = RowFiles(self._folder)
        return self._files

    def _stored(self) -> dict[str, str | None]:
        """Give the digest of each stored compilation, asked once in a load."""
        if not self._path.exists():
            return {}
        if self._digests is None:
            found = self._query("MATCH (c:Compilation) RETURN c.key AS key, c.sha256 AS digest")
            self._digests = {
                str(key): None if digest is None else str(digest) for key, digest in found.rows
            }
        return self._digests


_SHARED_TABLES: Final = frozenset((*UNCHANGING, *(item.name for item in BETWEEN_SHARED)))
_NODE_LABELS: Final = tuple(node.label for node in SCHEMA.nodes)
_RELATIONSHIP_TYPES: Final = tuple(item.name for item in SCHEMA.relationships)


def _rows(
    connection: ladybug.Connection, text: str, parameters: Mapping[str, Cell] | None = None
) -> list[list[Cell]]:
    # one statement has one result, and its rows are lists unless asked otherwise
    found = cast("ladybug.QueryResult", connection.execute(text, dict(parameters or {})))
    with found:
        return cast("list[list[Cell]]", found.get_all())


def _digests_of(batch: RowBatch) -> dict[str, str | None]:
    """Give key and digest of each compilation."""
    table = batch.nodes["Compilation"]
    digests = cast("list[str | None]", table.column("sha256").to_pylist())
    return dict(zip(keys_of(table), digests, strict=True))


def _copy(connection: ladybug.Connection, table: str, rows: Path) -> None:
    connection.execute(f"COPY `{table}` FROM {_quoted(rows)}")


def _create(connection: ladybug.Connection, table: str, rows: Path) -> None:
    """Add a few relationships to many; nodes are copied, which costs by those that come."""
    if table in _NODE_LABELS:
        _copy(connection, table, rows)
        return
    item = SCHEMA.relationship(table)
    properties = ", ".join(f"`{one.name}`: `{one.name}`" for one in item.properties)
    connection.execute(
        f"LOAD FROM {_quoted(rows)} "
        f"MATCH (a:`{item.source}` {{key: `source`}}) MATCH (b:`{item.target}` {{key: `target`}}) "
        f"CREATE (a)-[:`{table}` {{{properties}}}]->(b)"
    )


def _quoted(path: Path) -> str:
    # the engine takes it for a pattern
    text = glob.escape(str(path)).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"


def _counts(connection: ladybug.Connection) -> dict[str, int]:
    texts = {name: f"MATCH (n:`{name}`) RETURN count(*)" for name in _NODE_LABELS}
    texts |= {name: f"MATCH ()-[r:`{name}`]->() RETURN count(*)" for name in _RELATIONSHIP_TYPES}
    return {name: int(str(_rows(connection, text)[0][0])) for name, text in texts.items()}


def _set_run(
    connection: ladybug.Connection, key: str, run: Mapping[str, Cell], *, create: bool = True
) -> None:
    given = {name: value for name, value in run.items() if name != "key"}
    assignments = ", ".join(f"n.`{name}` = ${name}" for name in given)
    find = "MERGE" if create else "MATCH"
    connection.execute(f"{find} (n:Run {{key: $key}}) SET {assignments}", {"key": key, **given})


def _delete(connection: ladybug.Connection, compilations: list[str]) -> None:
    # by scanning: a table is read once for all of them, and no part is missed
    for node in PARTS:
        connection.execute(
            f"UNWIND $keys AS stale MATCH (n:`{node.label}`) WHERE n.compilation = stale "
            "DETACH DELETE n",
            {"keys": compilations},
        )
    connection.execute(
        "UNWIND $keys AS stale MATCH (n:Compilation {key: stale}) DETACH DELETE n",
        {"keys": compilations},
    )


def _delete_orphans(connection: ladybug.Connection) -> None:
    """Delete shared nodes that nothing uses: no run without compilations, the others unreached."""
    connection.execute(
        "MATCH (n:Run) WHERE NOT EXISTS { MATCH (n)-[:COMPILED]->() } DETACH DELETE n"
    )
    swept = True
    while swept:  # what only a swept node used goes in the next turn
        swept = False
        for label in sorted(UNCHANGING):
            unused = f"MATCH (n:`{label}`) WHERE {_is_unused(label)}"
            if _rows(connection, f"{unused} RETURN count(*)")[0][0]:
                connection.execute(f"{unused} DETACH DELETE n")
                swept = True


def _is_unused(label: str) -> str:
    return " AND ".join(
        f"NOT EXISTS {{ MATCH (n)<-[:`{item.name}`]-() }}" for item in SCHEMA.arriving_at(label)
    )


def _reason(error: RuntimeError, copy: Path) -> str:
    """Say why a copy could not be written; the engine speaks of what will become of the copy."""
    if shutil.disk_usage(copy.parent).free < _LITTLE_SPACE_BYTES:
        return "no space left on the disk"
    text = str(error).rpartition("will be recovered on restart: ")[2]
    return NO_ADDRESSES if "Mmap" in text else text


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
