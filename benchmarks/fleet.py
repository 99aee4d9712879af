"""Write an export of many compilations, made from real ones by renaming.

    python -m benchmarks.fleet DIR --compilations 100000 --dumps ../shared/dumps/runs

Each copy of the dumps' runs has a unique name, and a tag `commit=NUMBER`. Successive copies are of
one program; later ones have other modules and op names. Like a real fleet, they share modules and
ops from commit to commit, and source lines throughout.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph import open_export, open_graph
from xlagraph.graph.read_back import read_compilations
from xlagraph.graph.row_tables import CompilationRows, with_run_renamed
from xlagraph.graph.schema import SCHEMA, Detail
from xlagraph.ingest import IngestOptions, ingest

COMMITS_OF_A_PROGRAM: Final = 50
"""Number of copies of the runs with the same modules and ops."""

_RENAMED_LABELS: Final = ("Module", "Op", "Scope")
_RENAMED_COLUMNS: Final = {
    **dict.fromkeys(_RENAMED_LABELS, ("key", "name")),
    "Value": ("opName", "attributedOpName"),
    "Instruction": ("opName",),
    **{
        relationship.name: tuple(
            end
            for end, label in (("source", relationship.source), ("target", relationship.target))
            if label in _RENAMED_LABELS
        )
        for relationship in SCHEMA.relationships
    },
}
"""Columns with names of modules, ops and scopes."""


def write_fleet(
    dumps: Path, folder: Path, compilations: int, detail: Detail = Detail.PEAK
) -> dict[str, int]:
    """Write an export of this many compilations; return the number of rows of each table."""
    runs = _rows_by_run(dumps, detail)
    left = compilations
    with open_export(folder) as target, target.load() as load:
        for commit, name, rows in _copies(runs):
            size = len(rows.origins)
            if size > left:
                rows = rows.of(sorted(rows.origins)[:left])
            load.write(_of_program(rows, commit // COMMITS_OF_A_PROGRAM))
            load.tag(name, [f"commit={commit}"])
            left -= size
            if left <= 0:
                break
    return dict(target.manifest.counts)


def _copies(
    runs: dict[str, CompilationRows],
) -> Iterator[tuple[int, str, CompilationRows]]:
    """Yield copies of all runs, without end."""
    commit = 0
    while True:
        for run, rows in runs.items():
            name = f"{run}-{commit:05}"
            yield commit, name, with_run_renamed(rows, run, name)
        commit += 1


def _rows_by_run(dumps: Path, detail: Detail) -> dict[str, CompilationRows]:
    with (
        tempfile.TemporaryDirectory(prefix="xlagraph-fleet-") as folder,
        open_graph(Path(folder) / "fleet.lbug", create=True) as graph,
    ):
        ingest(graph, dumps, IngestOptions(detail=detail))
        found = graph.query(
            "MATCH (r:Run)-[:COMPILED]->(c:Compilation) "
            "RETURN r.key AS run, c.key AS compilation ORDER BY run, compilation"
        )
        keys: dict[str, list[str]] = {}
        for run, key in cast("list[tuple[str, str]]", found.rows):
            keys.setdefault(run, []).append(key)
        return {run: read_compilations(graph.query, of_run) for run, of_run in keys.items()}


def _of_program(rows: CompilationRows, program: int) -> CompilationRows:
    """Return the rows with other names of modules, ops and scopes."""
    if not program:
        return rows
    return CompilationRows(
        {name: _renamed(name, table, program) for name, table in rows.nodes.items()},
        {name: _renamed(name, table, program) for name, table in rows.relationships.items()},
    )


def _renamed(name: str, table: pa.Table, program: int) -> pa.Table:
    for column in _RENAMED_COLUMNS.get(name, ()):
        index = table.column_names.index(column)
        texts: pa.ChunkedArray[Any] = pc.replace_substring_regex(
            table.column(column), pattern="^([a-z_]*)", replacement=f"\\1p{program}_"
        )
        table = table.set_column(index, table.field(index), texts)
    return table


def main() -> None:
    """Read the command line and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dumps", type=Path, default=Path("examples/runs"))
    parser.add_argument("--compilations", type=int, default=1000)
    parser.add_argument("--detail", type=Detail, choices=list(Detail), default=Detail.PEAK)
    options = parser.parse_args()
    counts = write_fleet(options.dumps, options.folder, options.compilations, options.detail)
    for name, count in counts.items():
        print(f"{count:>12,} {name}")


if __name__ == "__main__":
    main()
