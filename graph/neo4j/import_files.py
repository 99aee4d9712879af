"""The files that Neo4j's offline importer takes, and the command that imports them.

    NAME.csv            rows of a label or of a relationship type, text in quotes, no header
    NAME-header.csv     names and types of its columns
    import.sh           the command
    constraints.cypher  constraints, missing from the imported database until the next ingest
    export.json         contents of the folder; written last, so it marks a complete export

The format is CSV because the importer of Neo4j 5.26 drops empty strings of Parquet files, and
that of its Maven artifacts cannot open them. Null is an empty field, an empty text two quotes.
"""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from xlagraph.graph.errors import GraphUnwritable, raise_unwritable
from xlagraph.graph.neo4j.manifest import (
    MANIFEST,
    Manifest,
    read_manifest,
    write_manifest,
)
from xlagraph.graph.neo4j.schema_statements import constraints, indexes
from xlagraph.graph.row_tables import NODE_COLUMNS, RELATIONSHIP_COLUMNS
from xlagraph.graph.schema import SCHEMA
from xlagraph.graph.schema_types import NodeType, Property, PropertyType

SCRIPT: Final = "import.sh"
CONSTRAINTS: Final = "constraints.cypher"
TAG_DELIMITER: Final = "\x1f"
TAG_DELIMITER_NAME: Final = f"U+{ord(TAG_DELIMITER):04X}"

# A table collects this many rows before they are written, this many bytes at a time.
_WAITING_ROWS: Final = 16_000
_WAITING_BYTES: Final = 2 << 20

# Size of the importer's buffer by default; a whole row must fit into it.
_READ_BUFFER_BYTES: Final = 4 << 20

_TYPES: Final[Mapping[PropertyType, str]] = {
    PropertyType.STRING: "",
    PropertyType.INTEGER: ":long",
    PropertyType.BOOLEAN: ":boolean",
    PropertyType.STRING_LIST: ":string[]",
}


def _typed(properties: Sequence[Property]) -> list[str]:
    return [f"{property_.name}{_TYPES[property_.type]}" for property_ in properties]


def _node_header(node: NodeType) -> str:
    return ",".join([f"key:ID({node.label})", *_typed(node.properties[1:])])


HEADERS: Final[Mapping[str, str]] = {
    **{node.label: _node_header(node) for node in SCHEMA.nodes},
    **{
        relationship.name: ",".join(
            [
                f":START_ID({relationship.source})",
                f":END_ID({relationship.target})",
                *_typed(relationship.properties),
            ]
        )
        for relationship in SCHEMA.relationships
    },
}
"""The header of each table, nodes before relationships."""

_OWN_FILES: Final = frozenset(
    [f"{table}{end}" for table in HEADERS for end in (".csv", "-header.csv")]
    + [SCRIPT, CONSTRAINTS, MANIFEST]
)
"""Names of all files that an export may write."""


def _in_file(columns: pa.Schema) -> pa.Schema:
    """Return the columns of nodes in a file, where a list is one text."""
    for index, column in enumerate(columns):
        if pa.types.is_list(column.type):
            columns = columns.set(index, pa.field(column.name, pa.string()))
    return columns


FILE_COLUMNS: Final[Mapping[str, pa.Schema]] = {
    **{label: _in_file(columns) for label, columns in NODE_COLUMNS.items()},
    **RELATIONSHIP_COLUMNS,
}


@dataclass(slots=True)
class _TableFile:
    """The row file of a table, with the rows that wait to be written."""

    file: IO[bytes]
    waiting: list[pa.Table] = field(default_factory=list)
    waiting_rows: int = 0
    waiting_bytes: int = 0

    @property
    def is_due(self) -> bool:
        """True if enough rows are collected."""
        return self.waiting_rows >= _WAITING_ROWS or self.waiting_bytes >= _WAITING_BYTES

    def add(self, rows: pa.Table) -> None:
        """Add rows to the collected ones."""
        self.waiting.append(rows)
        self.waiting_rows += rows.num_rows
        self.waiting_bytes += rows.nbytes

    def take(self) -> pa.Table:
        """Return the collected rows and clear the collection."""
        rows = pa.concat_tables(self.waiting)
        self.waiting, self.waiting_rows, self.waiting_bytes = [], 0, 0
        return rows


class ImportFiles:
    """Row files, one for each table that has rows, and the import command; memory is bounded.

    The folder must be new or empty, or contain only files of a crashed export. Otherwise
    `GraphUnwritable` is raised: other files are never overwritten.
    """

    def __init__(self, folder: Path, *, beside: Collection[str] = ()) -> None:
        """Prepare the folder; `beside` names other files and folders that may be in it."""
        self.manifest = Manifest()
        self._folder = folder
        self._is_new = not folder.exists()
        self._tables: dict[str, _TableFile] = {}
        with raise_unwritable(folder):
            folder.mkdir(parents=True, exist_ok=True)
        names = {path.name for path in folder.iterdir()}
        if MANIFEST in names:
            raise GraphUnwritable(
                f"{folder} already contains an export; remove it, or name another folder"
            )
        if foreign := sorted(names - _OWN_FILES - set(beside)):
            raise GraphUnwritable(
                f"{folder} is not empty, it contains {foreign[0]}; name a new or empty folder"
            )
        self._clear_folder()

    def add(self, name: str, rows: pa.Table) -> None:
        """Append rows to a table's file; their columns are those of `FILE_COLUMNS`."""
        if not rows.num_rows:
            return
        with raise_unwritable(self._folder):
            if name not in self._tables:
                self.manifest.files[name] = [f"{name}.csv"]
                self.manifest.counts[name] = 0
                self._tables[name] = _TableFile((self._folder / f"{name}.csv").open("wb"))
            table = self._tables[name]
            table.add(rows)
            self.manifest.counts[name] += rows.num_rows
            if table.is_due:
                self._flush(table)

    def finish(self) -> None:
        """Write the remaining rows, the command, and last the manifest that marks completeness."""
        with raise_unwritable(self._folder):
            for table in self._tables.values():
                if table.waiting:
                    self._flush(table)
                table.file.close()
            _write_headers(self._folder, self.manifest)
            _write_constraints(self._folder)
            _write_script(self._folder, self.manifest)
            write_manifest(self._folder, self.manifest)

    def delete(self) -> None:
        """Remove all files, finished or not, and the folder if it was new."""
        for table in self._tables.values():
            with suppress(OSError):  # unwritten rows are no longer needed
                table.file.close()
        self._clear_folder()
        if self._is_new:
            self._folder.rmdir()

    def _clear_folder(self) -> None:
        """Remove an export's files, the manifest that marks it complete first."""
        for name in (MANIFEST, *sorted(_OWN_FILES)):
            (self._folder / name).unlink(missing_ok=True)

    def _flush(self, table: _TableFile) -> None:
        for piece in _pieces(_with_joined_lists(table.take())):
            text = _csv(piece)
            table.file.write(text)
            self.manifest.has_newlines |= text.count(b"\n") != piece.num_rows or b"\r" in text
            longest = _longest_row_bytes(piece)
            self.manifest.longest_row_bytes = max(self.manifest.longest_row_bytes, longest)


def _pieces(rows: pa.Table) -> Iterator[pa.Table]:
    size = max(1, rows.num_rows * _WAITING_BYTES // max(1, rows.nbytes))
    for start in range(0, rows.num_rows, size):
        yield rows.slice(start, size)


def _with_joined_lists(rows: pa.Table) -> pa.Table:
    """Join the strings of each list with the array delimiter."""
    for number, column in enumerate(rows.schema):
        if pa.types.is_list(column.type):
            joined = cast(
                "pa.ChunkedArray[pa.StringScalar]",
                pc.binary_join(rows.column(number), TAG_DELIMITER),
            )
            rows = rows.set_column(number, column.name, joined)
    return rows


def _csv(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pv.write_csv(rows, sink, pv.WriteOptions(include_header=False, batch_size=_WAITING_ROWS))
    return sink.getvalue().to_pybytes()


def _longest_row_bytes(rows: pa.Table) -> int:
    """Return an upper bound: the longest text of each column, as if it were all doubled quotes."""
    longest = 0
    for column in rows.columns:
        if pa.types.is_string(column.type):
            longest += 2 * (pc.max(pc.binary_length(column)).as_py() or 0) + 3
        else:
            longest += 21  # a 64-bit number with sign and comma
    return longest


def _write_headers(folder: Path, manifest: Manifest) -> None:
    for name in manifest.files:
        (folder / f"{name}-header.csv").write_text(HEADERS[name] + "\n", encoding="utf-8")


def _write_constraints(folder: Path) -> None:
    statements = "".join(f"{text};\n" for text in (*constraints(), *indexes()))
    (folder / CONSTRAINTS).write_text(statements, encoding="utf-8")


def _write_script(folder: Path, manifest: Manifest) -> None:
    command = " \\\n  ".join(_arguments(manifest))
    (folder / SCRIPT).write_text(_SCRIPT.format(command=command), encoding="utf-8")


_SCRIPT: Final = """\
#!/bin/sh
# Imports this export into a Neo4j database that is new or empty, while the server is stopped.
# NEO4J_ADMIN names the program, NEO4J_DATABASE the database; options are passed on:
#   sh import.sh --overwrite-destination
set -eu
cd "$(dirname "$0")"
exec "${{NEO4J_ADMIN:-neo4j-admin}}" database import full "${{NEO4J_DATABASE:-neo4j}}" \\
  {command} \\
  "$@"
"""


def import_command(folder: Path) -> str:
    """Return the command that imports a whole export; it can be run from any folder."""
    arguments = ["neo4j-admin database import full neo4j", *_arguments(read_manifest(folder))]
    return f"cd {shlex.quote(str(folder.resolve()))} &&\n" + " \\\n  ".join(arguments)


def _arguments(manifest: Manifest) -> list[str]:
    arguments = ["--id-type=string", f"--array-delimiter={TAG_DELIMITER_NAME}"]
    if manifest.has_newlines:  # the option slows the importer down
        arguments.append("--multiline-fields=true")
    if manifest.longest_row_bytes > _READ_BUFFER_BYTES:
        arguments.append(f"--read-buffer-size={2 * manifest.longest_row_bytes}")
    for name in HEADERS:
        if name in manifest.files:
            option = "--relationships" if name in RELATIONSHIP_COLUMNS else "--nodes"
            paths = [f"{name}-header.csv", *manifest.files[name]]
            # the importer of 2026.08 does not find files without a folder in their path
            files = ",".join(path if "/" in path else f"./{path}" for path in paths)
            arguments.append(shlex.quote(f"{option}={name}={files}"))
    return arguments


def keep_latest(runs: dict[str, dict[str, object]], run: Mapping[str, object]) -> None:
    """Keep a row of a run if it is the latest: by ``ingestedAt``, then by path and tags."""
    key = str(run["key"])
    if key not in runs or _run_order(runs[key]) < _run_order(run):
        runs[key] = dict(run)


def _run_order(run: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(str(run[name] or "") for name in ("ingestedAt", "path", "tags"))
