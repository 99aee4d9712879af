"""Merge several exports, which were made in parallel, into one.

Nodes that compilations share are read from all exports and written once, with the relationships
that start at them. Other files stay where they are, and the import command refers to them.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from xlagraph.graph.errors import GraphUnwritable
from xlagraph.graph.neo4j.import_files import FILE_COLUMNS, ImportFiles, keep_latest
from xlagraph.graph.neo4j.manifest import Manifest, read_manifest
from xlagraph.graph.row_tables import unseen_row_numbers
from xlagraph.graph.schema import IMMUTABLE_LABELS, SHARED_RELATIONSHIPS, SHARED_TABLES


def merge_exports(folder: str | Path, exports: Sequence[str | Path]) -> Manifest:
    """Merge finished exports into a new or empty folder; keep them, as their files stay in use.

    If several exports contain a run, the row with the latest ``ingestedAt`` is used. Raises
    `GraphMissing` if one is not a finished export, `GraphUnwritable` if two contain the same
    compilation or the folder is not empty.
    """
    target = Path(folder)
    finished = [_FinishedExport(Path(path), target) for path in exports]
    _refuse_duplicate_compilations(finished)
    files = ImportFiles(target, beside=_folders_inside(target, exports))
    try:
        _write_runs(finished, files)
        _write_shared(finished, files)
        _reference_row_files(finished, files.manifest)
        files.finish()
    except BaseException:
        files.delete()
        raise
    return files.manifest


def _folders_inside(target: Path, exports: Sequence[str | Path]) -> set[str]:
    """Return the names of folders in the target that contain exports."""
    real = target.resolve()
    paths = [Path(path).resolve() for path in exports]
    return {path.relative_to(real).parts[0] for path in paths if real in path.parents}


class _FinishedExport:
    """One of the exports that are merged."""

    def __init__(self, folder: Path, target: Path) -> None:
        self.folder = folder
        self.manifest = read_manifest(folder)
        self._path_from_target = os.path.relpath(folder.resolve(), target.resolve())
        if "," in self._path_from_target:
            raise GraphUnwritable(f"{folder}: the importer does not accept a comma in a path")

    def files(self, table: str) -> list[str]:
        """Return the row files of a table as paths from the folder of the new export."""
        return [f"{self._path_from_target}/{name}" for name in self.manifest.files.get(table, [])]

    def read(self, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield a table's rows in portions."""
        schema = FILE_COLUMNS[table]
        # a block contains at least one row
        block_bytes = max(1 << 20, 2 * self.manifest.longest_row_bytes)
        for name in self.manifest.files.get(table, []):
            reader = pv.open_csv(
                self.folder / name,
                pv.ReadOptions(column_names=schema.names, block_size=block_bytes),
                pv.ParseOptions(newlines_in_values=self.manifest.has_newlines),
                pv.ConvertOptions(
                    column_types=schema,
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    include_columns=list(columns or schema.names),
                ),
            )
            with reader:
                for batch in reader:
                    yield pa.Table.from_batches([batch])


def _refuse_duplicate_compilations(exports: Sequence[_FinishedExport]) -> None:
    holder: dict[str, _FinishedExport] = {}
    for export in exports:
        for rows in export.read("Compilation", ["key"]):
            for key in cast("list[str]", rows.column("key").to_pylist()):
                other = holder.setdefault(key, export)
                if other is not export:
                    raise GraphUnwritable(
                        f"{key} is in {other.folder} and in {export.folder}; "
                        "export each dump once (see --shard), or use different run names"
                    )


def _write_runs(exports: Sequence[_FinishedExport], files: ImportFiles) -> None:
    runs: dict[str, dict[str, object]] = {}
    for export in exports:
        for rows in export.read("Run"):
            for run in rows.to_pylist():
                keep_latest(runs, run)
    files.add("Run", pa.Table.from_pylist(list(runs.values()), FILE_COLUMNS["Run"]))


def _write_shared(exports: Sequence[_FinishedExport], files: ImportFiles) -> None:
    seen: dict[str, set[str]] = {label: set() for label in IMMUTABLE_LABELS}
    for export in exports:
        fresh: dict[str, list[pa.Array[pa.StringScalar]]] = {
            label: [] for label in IMMUTABLE_LABELS
        }
        for label in IMMUTABLE_LABELS:
            for rows in export.read(label):
                new = rows.take(unseen_row_numbers(rows, seen[label]))
                fresh[label].extend(new.column("key").chunks)
                files.add(label, new)
        for relationship in SHARED_RELATIONSHIPS:
            keys = pa.chunked_array(fresh[relationship.source], pa.string()).combine_chunks()
            for rows in export.read(relationship.name):
                files.add(relationship.name, rows.filter(pc.is_in(rows.column("source"), keys)))


def _reference_row_files(exports: Sequence[_FinishedExport], manifest: Manifest) -> None:
    for export in exports:
        manifest.include(export.manifest)
        for table in export.manifest.files:
            if table not in SHARED_TABLES:
                manifest.add(export.manifest, table, export.files(table))
