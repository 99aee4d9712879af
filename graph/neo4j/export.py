# ruff: noqa: D102  the protocols in engine.py document the methods
"""Exports compilations for Neo4j's offline importer, from dumps or from a graph.

`ingest` loads into an export as into a graph, but an export consists of files and cannot be
queried. Nodes that compilations share are written once in an export. `merge_exports` merges
several exports that were made in parallel.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final, Self, cast

import pyarrow as pa

from xlagraph.graph.engine import Cell, Graph, Load, StoredRun, WrittenKeys
from xlagraph.graph.errors import GraphUnwritable
from xlagraph.graph.neo4j.import_files import (
    FILE_COLUMNS,
    TAG_DELIMITER,
    TAG_DELIMITER_NAME,
    ImportFiles,
    keep_latest,
)
from xlagraph.graph.neo4j.manifest import Manifest
from xlagraph.graph.read_back import read_compilations
from xlagraph.graph.row_tables import CompilationRows, SharedRows
from xlagraph.graph.statement_files import load_statement

_COMPLETE_COMPILATIONS: Final = load_statement(__file__, "complete-compilations")
_VALUES_AT_ONCE: Final = 2_000
"""Number of values in compilations read from a graph together, to send fewer statements."""


def open_export(folder: str | Path) -> "Export":
    """Begin an export into a folder that is new or empty.

    Leaving its context finishes it; an exception inside removes everything written.
    Raises `GraphUnwritable` if the folder contains anything except a crashed export.
    """
    return Export(Path(folder))


def export(graph: Graph, folder: str | Path) -> Manifest:
    """Export every compilation of a graph, and return the manifest with the counts.

    Raises the errors of `open_export`; a graph without compilations leaves no export.
    """
    found = graph.query(_COMPLETE_COMPILATIONS)
    with open_export(folder) as target, target.load() as load:
        for compilations in _batches(found.mappings()):
            load.write(read_compilations(graph.query, compilations))
    return target.manifest


def _batches(compilations: Iterable[Mapping[str, Cell]]) -> Iterator[list[str]]:
    """Yield the keys of compilations that are read together."""
    keys: list[str] = []
    values = 0
    for compilation in compilations:
        if values >= _VALUES_AT_ONCE:
            yield keys
            keys, values = [], 0
        keys.append(str(compilation["compilation"]))
        values += cast("int | None", compilation["values"]) or 0
    if keys:
        yield keys


class Export:
    """Files that become a graph when they are imported; they cannot be queried."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = ImportFiles(folder)
        self._load = ExportLoad(self._files)

    @property
    def location(self) -> str:
        return str(self._folder)

    @property
    def manifest(self) -> Manifest:
        """The manifest of what has been written; complete after the export is closed."""
        return self._files.manifest

    def stored_runs(self, names: Collection[str]) -> Mapping[str, StoredRun]:
        del names
        return {}  # an export is always new

    def load(self) -> AbstractContextManager["ExportLoad"]:
        return nullcontext(self._load)

    def close(self) -> None:
        """Finish the files and write the command; an empty export leaves no file."""
        if self._load.has_rows:
            self._load.write_runs()
            self._files.finish()
        else:
            self._files.delete()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._files.delete()
            return
        try:
            self.close()
        except BaseException:
            self._files.delete()
            raise


class ExportLoad(Load):
    """A load that writes the rows of compilations to import files."""

    def __init__(self, files: ImportFiles) -> None:
        self._files = files
        self._written = WrittenKeys()
        self._runs: dict[str, dict[str, object]] = {}
        self._shared = SharedRows()

    @property
    def has_rows(self) -> bool:
        """True if anything was written."""
        return bool(self._written)

    def write(self, rows: CompilationRows) -> None:
        self._written.add(rows.origins)
        for run in rows.nodes["Run"].to_pylist():
            keep_latest(self._runs, run)
        for name, table in self._shared.drop_seen(rows):
            if name != "Run":
                self._files.add(name, table)

    def remove(self, compilation: str) -> None:
        self._written.check_removal(compilation)

    def tag(self, run: str, tags: Sequence[str]) -> None:
        if run in self._runs:
            self._runs[run]["tags"] = list(tags)

    def store_snapshots(self, run: str, snapshots: Sequence[str]) -> None:
        if run in self._runs:
            self._runs[run]["snapshots"] = list(snapshots)

    def write_runs(self) -> None:
        """Write the latest row of each run, with the tags of the last `tag`."""
        runs = []
        for run in self._runs.values():
            lists = {
                name: cast("list[str] | None", run[name]) or [] for name in ("tags", "snapshots")
            }
            if any(TAG_DELIMITER in each for texts in lists.values() for each in texts):
                raise GraphUnwritable(
                    f"a tag of run {run['name']} contains the character {TAG_DELIMITER_NAME}, "
                    "which separates tags in an export; set the tag without it"
                )
            # the importer cannot express an empty list
            joined = {name: TAG_DELIMITER.join(texts) or None for name, texts in lists.items()}
            runs.append({**run, **joined})
        self._files.add("Run", pa.Table.from_pylist(runs, FILE_COLUMNS["Run"]))
