"""Files that an export writes, and the merge of several exports."""

import csv
import json
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest

from tests.graph.exporter.sorted_tables import sorted_tables
from tests.graph.made_rows import made_rows
from tests.tiny_dumps import dump, write_dump, write_runs
from xlagraph.graph import (
    CompilationRows,
    GraphMissing,
    GraphUnwritable,
    export,
    import_command,
    merge_exports,
    open_export,
)
from xlagraph.graph.read_back import read_compilations
from xlagraph.graph.schema import SCHEMA, VERSION
from xlagraph.ingest import IngestOptions, Shard, ingest

csv.field_size_limit(1 << 24)

STEP = "jit(step)/layer_0/dot"


def exported(folder: Path, *compilations: CompilationRows) -> Path:
    with open_export(folder) as target, target.load() as load:
        for rows in compilations:
            load.write(rows)
    return folder


def rows_of(folder: Path, table: str) -> list[tuple[str, ...]]:
    """Read the files of a table that the command names, and sort the rows."""
    rows: list[tuple[str, ...]] = []
    for name in json.loads((folder / "export.json").read_text())["files"].get(table, []):
        with (folder / name).open(newline="", encoding="utf-8") as file:
            rows.extend(map(tuple, csv.reader(file)))
    return sorted(rows)


def records_of(folder: Path, table: str) -> list[dict[str, str]]:
    """Read a table's rows as mappings from the header's names to the fields."""
    header = (folder / f"{table}-header.csv").read_text().rstrip("\n").split(",")
    names = [column.partition(":")[0] for column in header]
    return [dict(zip(names, row, strict=True)) for row in rows_of(folder, table)]


def tables_of(folder: Path) -> set[str]:
    return set(json.loads((folder / "export.json").read_text())["files"])


def test_a_header_names_ids_ends_and_types(tmp_path):
    folder = exported(tmp_path / "out", made_rows())
    assert (folder / "WITHIN-header.csv").read_text() == ":START_ID(Op),:END_ID(Scope)\n"
    assert (folder / "HOLDS-header.csv").read_text() == (
        ":START_ID(Allocation),:END_ID(Value),offsetBytes:long,sizeBytes:long\n"
    )
    run = (folder / "Run-header.csv").read_text().rstrip("\n").split(",")
    assert {"key:ID(Run)", "name", "schemaVersion:long", "tags:string[]"} <= set(run)
    nodes = [node for node in SCHEMA.nodes if node.label in tables_of(folder)]
    assert {"Run", "Compilation", "Allocation", "Value"} <= {node.label for node in nodes}
    for node in nodes:
        header = (folder / f"{node.label}-header.csv").read_text().rstrip("\n").split(",")
        names = [column.partition(":")[0] for column in header]
        assert names == [property_.name for property_ in node.properties]


def test_text_is_quoted_and_null_is_nothing(tmp_path):
    folder = exported(tmp_path / "out", made_rows(op='a/"b", c\\'))
    assert (folder / "Op.csv").read_text() == '"a/""b"", c\\","a/""b"", c\\"\n'
    assert (
        (folder / "Run.csv")
        .read_text()
        .startswith(f'"baseline","baseline","/dumps/baseline",,{VERSION},"commit=abc"')
    )


@pytest.mark.parametrize("batches", [(1, 1, 1), (2, 1), (3,)])
def test_what_compilations_share_is_written_once(tmp_path, batches):
    compilations = iter([made_rows(stem="a"), made_rows(stem="b"), made_rows("other")])
    folder = tmp_path / "out"
    with open_export(folder) as target, target.load() as load:
        for size in batches:
            load.write(CompilationRows.joined(list(islice(compilations, size))))
    assert rows_of(folder, "Op") == [(STEP, STEP)]
    assert rows_of(folder, "WITHIN") == [(STEP, "jit(step)"), (STEP, "jit(step)/layer_0")]
    assert [row[0] for row in rows_of(folder, "Run")] == ["baseline", "other"]
    assert [row[0] for row in rows_of(folder, "COMPILED")] == ["baseline", "baseline", "other"]


def test_every_compilation_is_complete_and_the_schema_version_is_there(tmp_path):
    folder = exported(tmp_path / "out", made_rows())
    header = (folder / "Compilation-header.csv").read_text().strip().split(",")
    assert [row[header.index("state")] for row in rows_of(folder, "Compilation")] == ["complete"]
    assert [run["schemaVersion"] for run in records_of(folder, "Run")] == [str(VERSION)]


def test_the_command_names_a_file_for_each_table_that_has_rows(tmp_path):
    write_dump(tmp_path / "run", 1, "jit_f", dump(256))
    with open_export(tmp_path / "out") as target:
        assert ingest(target, tmp_path / "run", jobs=1).ok
    for command in (import_command(tmp_path / "out"), (tmp_path / "out/import.sh").read_text()):
        for table in tables_of(tmp_path / "out"):
            assert f"={table}=./{table}-header.csv,./{table}.csv" in command
        assert "Frame" not in command  # there is no module text


@pytest.mark.parametrize(
    ("op", "has_newlines"), [("plain", False), (r"two\nlines", True), (r"two\rlines", True)]
)
def test_the_importer_reads_multiline_fields_only_if_there_are_newlines(tmp_path, op, has_newlines):
    write_dump(tmp_path / "run", 1, "jit_f", dump(256, op=op))
    with open_export(tmp_path / "out") as target:
        assert ingest(target, tmp_path / "run", jobs=1).ok
    command = import_command(tmp_path / "out")
    assert ("--multiline-fields=true" in command) == has_newlines
    assert "--read-buffer-size" not in command


def test_the_importer_is_given_a_buffer_that_the_longest_row_fits(tmp_path):
    command = import_command(exported(tmp_path / "out", made_rows(op='"' * 3_000_000)))
    (size,) = re.findall(r"--read-buffer-size=(\d+)", command)
    assert int(size) > 2 * 2 * 3_000_000  # key and name, each quote doubled


def test_the_export_of_a_graph_equals_that_of_its_dumps(tmp_path, embedded_graph):
    runs = write_runs(tmp_path / "runs")
    assert ingest(embedded_graph, runs, jobs=1).ok
    assert export(embedded_graph, tmp_path / "graph").counts["Compilation"] == 4
    with open_export(tmp_path / "dumps") as target:
        assert ingest(target, runs, jobs=1).ok
    assert tables_of(tmp_path / "graph") == tables_of(tmp_path / "dumps")
    for table in tables_of(tmp_path / "dumps") - {"Run", "Compilation"}:  # they say when
        assert rows_of(tmp_path / "graph", table) == rows_of(tmp_path / "dumps", table)


@pytest.mark.parametrize("values", [[75] * 4, [300]])  # several are read at once; one in turns
def test_rows_read_from_a_graph_in_portions_are_one_export(
    tmp_path, embedded_graph, values, monkeypatch
):
    monkeypatch.setattr("xlagraph.graph.neo4j.export._VALUES_AT_ONCE", 100)
    monkeypatch.setattr("xlagraph.graph.read_back._KEYS_AT_ONCE", 200)
    compilations = [made_rows(stem=f"m{n}", values=count) for n, count in enumerate(values)]
    with embedded_graph.load() as load:
        for rows in compilations:
            load.write(rows)
    export(embedded_graph, tmp_path / "graph")
    exported(tmp_path / "rows", *compilations)
    assert tables_of(tmp_path / "graph") == tables_of(tmp_path / "rows")
    for table in tables_of(tmp_path / "rows"):
        assert rows_of(tmp_path / "graph", table) == rows_of(tmp_path / "rows", table)


def test_small_compilations_are_read_from_a_graph_together(tmp_path, embedded_graph):
    with embedded_graph.load() as load:
        for number in range(20):
            load.write(made_rows(stem=f"module_{number:04}"))
    keys = [f"baseline/module_{number:04}" for number in range(20)]
    asked = Counter[str]()

    def counted(text, *parameters):
        asked[text] += 1
        return embedded_graph.query(text, *parameters)

    assert len(read_compilations(counted, keys).nodes["Compilation"]) == 20
    assert max(asked.values()) < 20


def test_shards_together_are_the_export_of_one_process_byte_for_byte(tmp_path):
    folders = [tmp_path / "host_1", tmp_path / "host_2"]
    for number in range(12):
        text = dump(256, op=f"jit(f)/layer_{number % 2}/dot")
        write_dump(folders[number % 2], number, "jit_f", text)
    options = IngestOptions(
        run="job", tags=("commit=1",), ingested_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    with open_export(tmp_path / "whole") as target:
        ingest(target, folders, options, jobs=1)
    shards = []
    for number in (1, 2, 3):
        shards.append(tmp_path / f"shard {number}")
        with open_export(shards[-1]) as target:
            summary = ingest(target, folders, replace(options, shard=Shard(number, 3)), jobs=1)
            assert 0 < len(summary.added) < 12
    merged = merge_exports(tmp_path / "merged", shards)
    assert merged.counts["Compilation"] == 12
    assert sorted_tables(tmp_path / "merged") == sorted_tables(tmp_path / "whole")


def test_the_time_of_an_ingest_can_be_given(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    with open_export(tmp_path / "out") as target:
        ingest(target, write_dump(tmp_path / "run", 1, "jit_f", dump(256)), jobs=1)
    assert b"2023-11-14T22:13:20+00:00" in sorted_tables(tmp_path / "out")["Run"]


def test_merging_keeps_any_text_unchanged(tmp_path):
    odd = made_rows("one", op='x/"é",\n/\ry\\/' + "z" * 3_000_000)
    parts = [
        exported(tmp_path / "a", odd),
        exported(tmp_path / "b", made_rows("two", op='x/"é",\n/\ry\\/' + "z" * 3_000_000)),
        exported(tmp_path / "c", made_rows("three", op="")),
    ]
    merge_exports(tmp_path / "all", parts)
    assert rows_of(tmp_path / "all", "Op") == sorted(
        rows_of(parts[0], "Op") + rows_of(parts[2], "Op")
    )
    assert '"",""\n' in (tmp_path / "all" / "Op.csv").read_text()
    assert "--multiline-fields=true" in import_command(tmp_path / "all")
    assert "--read-buffer-size=" in import_command(tmp_path / "all")


def test_merged_exports_merge_again(tmp_path):
    for name in "abc":
        exported(tmp_path / name, made_rows(name))
    merge_exports(tmp_path / "ab", [tmp_path / "a", tmp_path / "b"])
    merge_exports(tmp_path / "sub" / "abc", [tmp_path / "ab", tmp_path / "c"])
    whole = exported(tmp_path / "whole", *map(made_rows, "abc"))
    for table in tables_of(whole):
        assert rows_of(tmp_path / "sub" / "abc", table) == rows_of(whole, table)


def test_of_a_run_in_several_exports_the_latest_row_is_used(tmp_path):
    runs = tmp_path / "runs"
    write_dump(runs / "same", 1, "jit_f", dump(256))
    write_dump(runs / "same", 2, "jit_f", dump(256))
    parts = []
    for number, tag in ((1, "job=first"), (2, "job=second")):
        parts.append(tmp_path / f"part{number}")
        with open_export(parts[-1]) as target:
            ingest(
                target,
                next((runs / "same").glob(f"*000{number}*")),
                IngestOptions(tags=[tag]),
                jobs=1,
            )
        (run,) = records_of(parts[-1], "Run")
        when = run["ingestedAt"]
        file = parts[-1] / "Run.csv"
        file.write_text(file.read_text().replace(when, f"2026-01-0{3 - number}T00:00:00+00:00"))
    merge_exports(tmp_path / "merged", parts)
    (run,) = records_of(tmp_path / "merged", "Run")
    assert run["tags"] == "job=first"


def test_a_compilation_in_two_exports_is_refused_and_named(tmp_path):
    parts = [exported(tmp_path / name, made_rows()) for name in ("a", "b")]
    with pytest.raises(GraphUnwritable, match=r"baseline/module_0001\.jit_step is in .*a and in"):
        merge_exports(tmp_path / "merged", parts)
    assert not (tmp_path / "merged").exists()


def test_an_unfinished_export_is_not_merged(tmp_path):
    (tmp_path / "part").mkdir()
    with pytest.raises(GraphMissing, match=r"does not contain a finished export"):
        merge_exports(tmp_path / "merged", [tmp_path / "part"])


@pytest.mark.parametrize("content", ["{}", "[]", "3", f'{{"schema": {VERSION}}}'])
def test_an_invalid_manifest_is_named(tmp_path, content):
    (tmp_path / "export.json").write_text(content)
    with pytest.raises(GraphMissing, match=r"export\.json is not the manifest of an export"):
        import_command(tmp_path)


def test_a_finished_export_and_foreign_files_are_not_overwritten(tmp_path):
    folder = exported(tmp_path / "out", made_rows())
    with pytest.raises(GraphUnwritable, match="already contains an export"):
        open_export(folder)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(GraphUnwritable, match=r"not empty.*notes\.txt|not empty.*out"):
        open_export(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_an_export_replaces_the_files_of_a_crashed_one(tmp_path):
    folder = exported(tmp_path / "out", made_rows(op="of another time"))
    (folder / "export.json").unlink()
    exported(folder, made_rows())
    assert rows_of(folder, "Op") == [(STEP, STEP)]


def test_an_exception_or_nothing_to_export_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="written twice"):
        exported(tmp_path / "new", made_rows(), made_rows())
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    exported(tmp_path / "old")
    assert list((tmp_path / "old").iterdir()) == []


def test_a_tag_with_the_delimiter_is_refused(tmp_path):
    with pytest.raises(GraphUnwritable, match=r"run baseline .* U\+001F"):
        exported(tmp_path / "out", made_rows(tags=["note=a\x1fb"]))


def test_tags_are_one_list(tmp_path):
    folder = exported(tmp_path / "out", made_rows(tags=["a=1;2", 'b="x",y']))
    (run,) = records_of(folder, "Run")
    assert run["tags"].split("\x1f") == ["a=1;2", 'b="x",y']
