# ruff: noqa: D102  the protocols in engine.py document the methods
"""Load compilations into a graph file, which changes in one rename.

    1. the processes that make rows write them as Parquet files to `FILE.loading/`
    2. the graph file is copied there, or an empty one created; of a small file, the rows are
       written as Parquet files too, for the empty one, if none is removed
    3. removed or replaced compilations are deleted from the copy
    4. one COPY, or a few, adds the rows of each table
    5. if something was removed, unused shared nodes are deleted
    6. checkpoint, compare the counts, close
    7. the copy is rewritten without the space of deleted rows, if rows were only removed
    8. fsync, rename over the graph file

Before step 8 only `FILE.loading/` is touched; the next load removes it. The caller holds the
lock of the file.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Final, cast

import ladybug
import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph.engine import Cell, Load, Result, WrittenKeys
from xlagraph.graph.errors import GraphUnwritable, RowsUnwritten, raise_unwritable
from xlagraph.graph.ladybug import file_changes, schema_statements
from xlagraph.graph.ladybug.compaction import compact, stored_rows
from xlagraph.graph.ladybug.database import NO_ADDRESSES, create_tables, open_database
from xlagraph.graph.ladybug.file_changes import NODE_LABELS, RELATIONSHIP_TYPES
from xlagraph.graph.row_files import RowFiles
from xlagraph.graph.row_tables import (
    NODE_COLUMNS,
    RELATIONSHIP_COLUMNS,
    CompilationRows,
    Origin,
    distinct_rows,
    keys_of,
)
from xlagraph.graph.schema import IMMUTABLE_LABELS, SHARED_RELATIONSHIPS, SHARED_TABLES
from xlagraph.graph.statement_files import load_statement
from xlagraph.runtime.files import sync
from xlagraph.runtime.memory import trim_memory

_COMPILATION_ORIGINS: Final = load_statement(__file__, "compilation-origins")

# With less free space than this, an error is reported as a full disk: the engine's message
# may only say that a read failed.
_LITTLE_SPACE_BYTES: Final = 1 << 20

# Rows that one transaction may write; six million rows would take three times the memory.
_SMALL_ROWS: Final = 200_000

# Adding rows to a file takes a second and 25 MB of disk, even for a few rows. It is faster to write
# all rows of a file smaller than this into a new one.
_SMALL_FILE_BYTES: Final = 16 << 20

# Releasing memory takes milliseconds, which pays off from this number of rows.
_MANY_ROWS: Final = 100_000

# Shares of a load's work, for `watch`: until all rows are collected, and until they are copied.
_COLLECTED_SHARE: Final = 0.6
_COPIED_SHARE: Final = 0.95

# Rows that `write` collects in memory before it writes them to files.
MAX_WAITING_ROWS: Final = 100_000


@contextmanager
def loading(
    path: Path, *, query: Callable[[str, Mapping[str, Cell]], Result], release: Callable[[], None]
) -> Iterator["LadybugLoad"]:
    """Collect rows and write them into the file at the end; ``release`` closes its reader."""
    folder = path.with_name(path.name + ".loading")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        with LadybugLoad(path, folder, query) as load:
            yield load
            with raise_unwritable(path, _UNCHANGED):
                load.write_waiting()
                if load.is_needed:
                    load.store(release)
    except RowsUnwritten as error:
        raise GraphUnwritable(f"{path} could not be written{_UNCHANGED}: {error.reason}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_UNCHANGED: Final = ", it is as before"


class LadybugLoad(Load):
    """The pending changes of a graph file, until `store` applies them."""

    def __init__(
        self, path: Path, folder: Path, query: Callable[[str, Mapping[str, Cell]], Result]
    ) -> None:
        self._query = query
        self._path = path
        self._folder = folder
        self._executor = ThreadPoolExecutor(1)
        self._copied: Future[Path] | None = None
        self._files: list[RowFiles] = []
        self._waiting: list[CompilationRows] = []
        self._waiting_rows = 0
        self._written = WrittenKeys()
        self._new: set[str] = set()
        """Written parts that are not stored yet, or that come from another origin."""
        self._removed: set[str] = set()
        self._origins: dict[str, Origin] | None = None
        self._run_lists: dict[str, dict[str, list[str]]] = {}
        self._report: Callable[[float], None] = lambda _: None

    @property
    def is_needed(self) -> bool:
        """True if there are changes to store."""
        return bool(self._new or self._removed or self._run_lists)

    @property
    def row_folder(self) -> Path:
        return self._folder

    def watch(self, report: Callable[[float], None]) -> None:
        self._report = report
        report(_COLLECTED_SHARE)

    def expect_rows(self) -> None:
        with raise_unwritable(self._path, _UNCHANGED):
            self._folder.mkdir(exist_ok=True)
        if self._copied is None and self._path.exists():
            copy = self._folder / "graph.lbug"
            self._copied = self._executor.submit(shutil.copyfile, self._path, copy)

    def write(self, rows: CompilationRows) -> None:
        new = self._claim(rows.origins)
        if not new:
            return
        self._wait(rows if len(new) == len(rows.origins) else rows.of(new))

    def write_files(self, files: RowFiles) -> None:
        new = self._claim(files.origins)
        if len(new) == len(files.origins):
            self._files.append(files)
            return
        if new:
            self._wait(files.read().of(new))
        files.delete()

    def remove(self, compilation: str) -> None:
        self._written.check_removal(compilation)
        if compilation in self._stored():
            self._removed.add(compilation)

    def tag(self, run: str, tags: Sequence[str]) -> None:
        self._run_lists.setdefault(run, {})["tags"] = list(tags)

    def store_snapshots(self, run: str, snapshots: Sequence[str]) -> None:
        self._run_lists.setdefault(run, {})["snapshots"] = list(snapshots)

    def write_waiting(self) -> None:
        """Write the rows that are held in memory."""
        if self._waiting:
            tables = chain.from_iterable(rows.tables.items() for rows in self._waiting)
            self._files.append(RowFiles.write(self._folder, tables))
            self._waiting, self._waiting_rows = [], 0

    def __enter__(self) -> "LadybugLoad":
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()

    def store(self, release: Callable[[], None]) -> None:
        """Create the new file from the old one and replace it."""
        stale = sorted(self._removed | (self._new & self._stored().keys()))
        self.expect_rows()
        shared = self._new_shared_rows() if self._files else None
        release()
        if sum(sum(files.counts.values()) for files in self._files) >= _MANY_ROWS:
            trim_memory()
        file = self._folder / "new.lbug"
        try:
            old = stored_rows(self._path, self._folder) if self._is_small and not stale else None
            if is_copy := old is None and self._copied is not None:
                file = self._copied.result()
            database = open_database(file)
            try:
                connection = ladybug.Connection(database)
                if not is_copy:
                    create_tables(connection)
                if stale:
                    file_changes.delete_compilations(connection, stale)
                if old is not None and "Run" in old.counts:
                    file_changes.copy_rows(connection, "Run", [old.path("Run")])
                self._set_runs(connection)
                sources = self._sources(shared, old)
                # a new file has no rows of these tables: to count none took a tenth of a small load
                before = file_changes.count_rows(connection, sources if is_copy else ())
                self._add(connection, sources, before)
                if stale:
                    file_changes.delete_orphans(connection)
                connection.execute("CHECKPOINT")
                connection.close()
            finally:
                database.close()
            # a load that adds compilations grows the file anyway, and compaction is slow
            if self._removed and not self._new:
                compact(file, self._folder)
        except RuntimeError as error:
            raise GraphUnwritable(
                f"{self._path} could not be written{_UNCHANGED}: {_reason(error, file)}"
            ) from error
        if self._path.exists():
            shutil.copymode(self._path, file)
        sync(file)
        file.replace(self._path)
        sync(self._path.parent)

    def _wait(self, rows: CompilationRows) -> None:
        """Keep rows until there are enough for a file."""
        self._waiting.append(rows)
        self._waiting_rows += rows.count()
        if self._waiting_rows >= MAX_WAITING_ROWS:
            self.write_waiting()

    def _claim(self, origins: Mapping[str, Origin]) -> list[str]:
        """Return the compilations to write; those whose origin is already stored stay."""
        self._written.add(origins)
        stored = self._stored()
        new = [
            key
            for key, origin in origins.items()
            if key in self._removed or origin.replaces(stored.get(key))
        ]
        self._new.update(new)
        return new

    def _add(
        self,
        connection: ladybug.Connection,
        sources: Mapping[str, Sequence[RowFiles]],
        before: Mapping[str, int],
    ) -> None:
        """Copy the rows of each table, and check that all are there next to those before."""
        added = {name: sum(part.counts[name] for part in files) for name, files in sources.items()}
        # a checkpoint after each COPY takes a third of a small load's time; it saves memory in a
        # large one
        is_small = sum(added.values()) < _SMALL_ROWS
        if is_small:
            connection.execute("BEGIN TRANSACTION")
        copied = 0
        for name, files in sources.items():
            is_few = is_small and file_changes.are_few(name, added[name], before.get(name, 0))
            add = file_changes.create_rows if is_few else file_changes.copy_rows
            for portion in file_changes.portions(files, name):
                add(connection, name, [part.path(name) for part in portion])
                copied += sum(part.counts[name] for part in portion)
                done = copied / sum(added.values())
                self._report(_COLLECTED_SHARE + (_COPIED_SHARE - _COLLECTED_SHARE) * done)
                if added[name] >= _MANY_ROWS:
                    trim_memory()
        if is_small:
            connection.execute("COMMIT")
        after = (
            file_changes.count_all_rows(connection)
            if is_small and not before
            else file_changes.count_rows(connection, sources)
        )
        for name in sources:
            expected = before.get(name, 0) + added[name]
            if after.get(name, 0) != expected:
                raise GraphUnwritable(
                    f"{self._path} could not be written{_UNCHANGED}: expected {expected} rows of"
                    f" {name}, the engine kept {after.get(name, 0)}"
                )

    def _sources(self, shared: RowFiles | None, old: RowFiles | None) -> dict[str, list[RowFiles]]:
        """Return the row files of each table, nodes before relationships; none of runs."""
        sources = {
            name: [
                files
                for files in (old, *((shared,) if name in SHARED_TABLES else self._files))
                if files is not None and name in files.counts
            ]
            for name in (*NODE_LABELS, *RELATIONSHIP_TYPES)
            if name != "Run"
        }
        return {name: files for name, files in sources.items() if files}

    def _set_runs(self, connection: ladybug.Connection) -> None:
        # most files have rows of the same few runs
        runs = {run["key"]: run for files in self._files for run in files.table("Run").to_pylist()}
        for key, run in runs.items():
            file_changes.set_run(connection, key, run)
        for key, lists in self._run_lists.items():
            file_changes.set_run(connection, key, lists, create=False)

    def _new_shared_rows(self) -> RowFiles:
        """Write the shared nodes that are new, and the relationships that start at them."""
        nodes = {label: columns.empty_table() for label, columns in NODE_COLUMNS.items()}
        relationships = {
            name: columns.empty_table() for name, columns in RELATIONSHIP_COLUMNS.items()
        }
        for label in IMMUTABLE_LABELS:
            rows = self._distinct_rows(label)
            nodes[label] = rows
            if rows.num_rows and self._path.exists():  # the engine rejects an empty list
                stored = self._query(schema_statements.stored_keys(label), {"keys": keys_of(rows)})
                known = pa.array([str(row[0]) for row in stored.rows], pa.string())
                nodes[label] = rows.filter(pc.invert(pc.is_in(rows.column("key"), known)))
        for relationship in SHARED_RELATIONSHIPS:
            rows = self._distinct_rows(relationship.name)
            is_new = pc.is_in(rows.column("source"), nodes[relationship.source].column("key"))
            relationships[relationship.name] = rows.filter(is_new)
        return RowFiles.write(self._folder, CompilationRows(nodes, relationships).tables.items())

    def _distinct_rows(self, name: str) -> pa.Table:
        """Read the rows that compilations share from all files, without repetitions."""
        return distinct_rows(pa.concat_tables([files.table(name) for files in self._files]))

    @property
    def _is_small(self) -> bool:
        """True if there is a file, and all its rows are written into a new one faster."""
        return self._path.exists() and self._path.stat().st_size < _SMALL_FILE_BYTES

    def _stored(self) -> dict[str, Origin]:
        """Return the origin of each stored compilation, queried once per load."""
        if not self._path.exists():
            return {}
        if self._origins is None:
            found = self._query(_COMPILATION_ORIGINS, {}).rows
            origins = cast("Iterable[tuple[str, str | None, str | None]]", found)
            self._origins = {key: Origin(*origin) for key, *origin in origins}
        return self._origins


def _reason(error: RuntimeError, file: Path) -> str:
    """Return why a file could not be written; the engine names it, not the graph's file."""
    if shutil.disk_usage(file.parent).free < _LITTLE_SPACE_BYTES:
        return "no space left on the disk"
    text = str(error).rpartition("will be recovered on restart: ")[2]
    return NO_ADDRESSES if "Mmap" in text else text
