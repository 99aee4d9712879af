"""A graph's tables as files."""

import csv
import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.tiny_dumps import AFTER_F, ingest_two_runs, write_padded_run
from xlagraph.exports import TableFormat, write_tables
from xlagraph.graph import SCHEMA, Graph, GraphUnwritable, remove, tag_run
from xlagraph.ingest import IngestOptions, ingest


@pytest.fixture
def graph(embedded_graph: Graph, tmp_path: Path) -> Graph:
    """The tiny runs `before` and `after`."""
    ingest_two_runs(embedded_graph, tmp_path / "dumps")
    return embedded_graph


@pytest.mark.parametrize("format_", TableFormat)
def test_each_label_and_type_has_a_file_for_each_run(
    graph: Graph, format_: TableFormat, tmp_path: Path
) -> None:
    write_tables(graph, ["before", "after"], tmp_path / "tables", format_)
    names = [each.label for each in SCHEMA.nodes] + [each.name for each in SCHEMA.relationships]
    found = {path for path in (tmp_path / "tables").rglob("*") if path.is_file()}
    assert found == {
        tmp_path / "tables" / name / f"{run}.{format_.value}"
        for name in names
        for run in ("before", "after")
    }


def test_rows_are_those_of_the_graph_and_shared_nodes_are_in_each_run(
    graph: Graph, tmp_path: Path
) -> None:
    write_tables(graph, ["before", "after"], tmp_path, TableFormat.PARQUET)
    rows = graph.read(AFTER_F)
    values = pq.read_table(tmp_path / "Value" / "after.parquet")
    assert values.schema == rows.nodes["Value"].schema
    of_f = [row for row in values.to_pylist() if row["compilation"] == AFTER_F]
    assert of_f == rows.nodes["Value"].to_pylist()
    for run in ("before", "after"):
        ops = pq.read_table(tmp_path / "Op" / f"{run}.parquet").column("key").to_pylist()
        assert set(ops) == {"jit(f)/layer_0/dot", "jit(f)/sum", "p"}
        assert len(ops) == 3
        assert pq.read_table(tmp_path / "Run" / f"{run}.parquet").column("key").to_pylist() == [run]


def test_csv_quotes_text_and_writes_null_as_nothing(graph: Graph, tmp_path: Path) -> None:
    tag_run(graph, "after", {"note": 'a "b", c'})
    write_tables(graph, ["after"], tmp_path, TableFormat.CSV)
    run = (tmp_path / "Run" / "after.csv").read_text(encoding="utf-8")
    (row,) = csv.DictReader(io.StringIO(run))
    assert row["tags"] == '["note=a \\"b\\", c"]'
    allocations = (tmp_path / "Allocation" / "after.csv").read_text(encoding="utf-8")
    header, first, *_ = allocations.splitlines()
    cells = dict(zip(header.replace('"', "").split(","), first.split(","), strict=True))
    assert (cells["sizeBytes"], cells["role"], cells["page"]) == ("64", '"parameter"', "")


def test_an_export_replaces_the_files_of_its_runs_and_leaves_the_others(
    graph: Graph, tmp_path: Path
) -> None:
    write_tables(graph, ["before", "after"], tmp_path, TableFormat.PARQUET)
    before = (tmp_path / "Value" / "before.parquet").read_bytes()
    remove(graph, AFTER_F)
    write_tables(graph, ["after"], tmp_path, TableFormat.PARQUET)
    assert pq.read_table(tmp_path / "Value" / "after.parquet").num_rows == 3
    assert (tmp_path / "Value" / "before.parquet").read_bytes() == before


def test_every_name_of_a_run_makes_a_file_in_the_folder(
    embedded_graph: Graph, tmp_path: Path
) -> None:
    write_padded_run(tmp_path / "dumps")
    name = "../a b/ü%"
    assert ingest(embedded_graph, tmp_path / "dumps", IngestOptions(run=name), jobs=1).ok
    write_tables(embedded_graph, [name], tmp_path / "tables", TableFormat.PARQUET)
    (file,) = (tmp_path / "tables" / "Value").iterdir()
    assert file.name == "..%2Fa b%2F%C3%BC%25.parquet"


def test_a_failed_export_leaves_no_unfinished_file(graph: Graph, tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "WITHIN").touch()  # at a folder's path
    with pytest.raises(GraphUnwritable, match="could not be written"):
        write_tables(graph, ["before"], tmp_path / "tables", TableFormat.PARQUET)
    assert not [path for path in (tmp_path / "tables").rglob("*.*") if path.is_file()]
