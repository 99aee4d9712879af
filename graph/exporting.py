# ruff: noqa: D102  what the methods do is said in engine.py
"""Exports compilations for Neo4j's offline importer, from dumps or from a graph.

An export is what `ingest` takes for an empty graph: it answers every statement with no row,
and a load writes files. Nodes that compilations share are written once in an export; several
exports, made side by side, become one in `merge_exports`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self, cast

import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph.engine import Cell, Graph, Load, Result
from xlagraph.graph.errors import GraphUnwritable, NameUnknown
from xlagraph.graph.import_files import (
    FILE_COLUMNS,
    SCHEMA_NODE,
    TAG_DELIMITER,
    ImportFiles,
    Manifest,
    clear_folder,
    make_folder,
    write_command,
)
from xlagraph.graph.neo4j_texts import BETWEEN_SHARED
from xlagraph.graph.rows import CompilationRows
from xlagraph.graph.schema import SCHEMA, VERSION, RelationshipType

SHARED: Final = frozenset(node.label for node in SCHEMA.nodes if node.shared)
"""Labels whose nodes several compilations, and so several exports, have in common."""

MERGED: Final = tuple(node.label for node in SCHEMA.nodes if node.shared and node.label != "Run")
"""Shared labels whose nodes are the same wherever they are made; runs differ in when."""


def open_export(folder: str | Path) -> "Export":
    """Begin an export into a folder that is new or empty.

    Leaving its context finishes it; an exception inside takes everything away again.
    Raises `GraphUnwritable` if the folder holds anything but a crashed export.
    """
    path = Path(folder)
    is_new = not path.exists()
    make_folder(path)
    return Export(path, is_new=is_new)


def export(graph: Graph, folder: str | Path) -> Manifest:
    """Export every compilation of a graph; the manifest says how much that is.

    Raises what `open_export` raises; a graph without compilations leaves no export.
    """
    keys = graph.query(
        "MATCH (c:Compilation) WHERE c.state = 'complete' "
        "RETURN c.key AS compilation ORDER BY compilation"
    )
    with open_export(folder) as target, target.load() as load:
        for (key,) in keys.rows:
            load.write(graph.read(str(key)))
    return target.manifest


class Export:
    """A graph that is written to files, and empty until they are imported."""

    def __init__(self, folder: Path, *, is_new: bool) -> None:
        self._folder = folder
        self._is_new = is_new
        self._files = ImportFiles(folder)
        self._load = ExportLoad(self._files)

    @property
    def location(self) -> str:
        return str(self._folder)

    @property
    def versions(self) -> Mapping[str, str]:
        return {"schema": str(VERSION)}

    @property
    def manifest(self) -> Manifest:
        """What has been written; complete once the export is closed."""
        return self._files.manifest

    def query(
        self,
        text: str,
        parameters: Mapping[str, Cell] | None = None,
        *,
        timeout_seconds: float | None = None,
    ) -> Result:
        del text, parameters, timeout_seconds
        return Result((), ())

    def load(self) -> AbstractContextManager[Load]:
        return self._loading()

    @contextmanager
    def _loading(self) -> Iterator[Load]:
        yield self._load

    def read(self, compilation: str) -> CompilationRows:
        raise NameUnknown(f"{compilation} cannot be read back from an export")

    def close(self) -> None:
        """Finish the files and write the command; an export of nothing leaves no file."""
        if not self._load.has_rows:
            self._take_away()
            return
        self._load.write_runs()
        self._files.add(SCHEMA_NODE, schema_row())
        self._files.close()
        write_command(self._folder, self._files.manifest)

    def _take_away(self) -> None:
        self._files.abandon()
        clear_folder(self._folder)
        if self._is_new:
            self._folder.rmdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._take_away()
            return
        try:
            self.close()
        except BaseException:
            self._take_away()
            raise


def schema_row() -> pa.Table:
    """Give the bookkeeping node that says which schema wrote the graph."""
    return pa.table({"key": ["xlagraph"], "version": [VERSION]}, FILE_COLUMNS[SCHEMA_NODE])


class ExportLoad:
    """Takes compilations, and hands their rows to files."""

    def __init__(self, files: ImportFiles) -> None:
        self._files = files
        self._written: set[str] = set()
        self._runs: dict[str, dict[str, object]] = {}
        self._seen: dict[str, set[str]] = {label: set() for label in MERGED}

    @property
    def has_rows(self) -> bool:
        """Whether anything was written."""
        return bool(self._written)

    def write(self, rows: CompilationRows) -> None:
        if rows.compilation in self._written:
            raise ValueError(f"{rows.compilation} is written twice in one export")
        self._written.add(rows.compilation)
        self._runs[rows.run] = rows.nodes["Run"].to_pylist()[0]
        fresh = {label: first_seen(rows.nodes[label], self._seen[label]) for label in MERGED}
        for label, table in rows.nodes.items():
            if label == "Compilation":
                state = pa.array(["complete"])
                table = table.set_column(table.schema.get_field_index("state"), "state", state)
            if label in fresh:
                table = table.take(fresh[label])
            if label != "Run":
                self._files.add(label, table)
        keys = {label: table.column("key").combine_chunks() for label, table in rows.nodes.items()}
        for item in SCHEMA.relationships:
            table = rows.relationships[item.name]
            if item in BETWEEN_SHARED:
                is_fresh = pc.is_in(table.column("source"), value_set=fresh[item.source])
                table = table.filter(is_fresh)
            if table.num_rows:
                self._files.add(item.name, _with_keys(item, table, keys))

    def remove(self, compilation: str) -> None:
        if compilation in self._written:
            raise ValueError(f"{compilation} is removed after it was written")

    def tag(self, run: str, tags: Sequence[str]) -> None:
        if run in self._runs:
            self._runs[run]["tags"] = list(tags)

    def write_runs(self) -> None:
        """Write the runs as their last compilation, or the last `tag`, left them."""
        runs = []
        for run in self._runs.values():
            tags = cast("list[str] | None", run["tags"])
            if any(TAG_DELIMITER in tag for tag in tags or ()):
                raise GraphUnwritable(
                    f"a tag of run {run['name']} holds the character U+001F, "
                    "which stands between tags in an export: set it without"
                )
            # the importer knows no empty list
            runs.append({**run, "tags": TAG_DELIMITER.join(tags) if tags else None})
        self._files.add("Run", pa.Table.from_pylist(runs, FILE_COLUMNS["Run"]))


def first_seen(nodes: pa.Table, seen: set[str]) -> "pa.Int32Array":
    """Give the rows whose keys were not seen before, and see them."""
    rows = []
    for row, key in enumerate(cast("list[str]", nodes.column("key").to_pylist())):
        if key not in seen:
            seen.add(key)
            rows.append(row)
    return pa.array(rows, pa.int32())


def _with_keys(
    item: RelationshipType, table: pa.Table, keys: "Mapping[str, pa.Array[pa.StringScalar]]"
) -> pa.Table:
    """Put keys in the place of row numbers."""
    ends = [
        keys[item.source].take(table.column("source")),
        keys[item.target].take(table.column("target")),
    ]
    return pa.table([*ends, *table.columns[2:]], schema=FILE_COLUMNS[item.name])
