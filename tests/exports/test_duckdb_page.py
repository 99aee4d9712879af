"""The SQL in docs/duckdb.md gives the same rows as the canned queries."""

import re
from pathlib import Path

import duckdb
import pytest

from xlagraph.exports import TableFormat, write_tables
from xlagraph.graph import Graph, Scalar
from xlagraph.queries import load_catalogue, run
from xlagraph.queries.runner.compilations import run_names

TREE = Path(__file__).resolve().parents[2]
PAGE = (TREE / "docs" / "duckdb.md").read_text(encoding="utf-8")
COMPILATION = "baseline/module_0004.jit_train_step.cpu_after_optimizations"
GIVEN: dict[str, Scalar] = {
    "compilation": COMPILATION,
    "runA": "baseline",
    "runB": "batch2x",
    "limit": 20,
}
VIEWS = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0]
QUESTIONS = dict(re.findall(r"^`(\w+/[\w-]+)`\n\n```sql\n(.*?)^```$", PAGE, re.M | re.DOTALL))


@pytest.fixture(scope="module")
def folder(examples: Graph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tables of the example runs, in both formats."""
    folder = tmp_path_factory.mktemp("tables")
    for format_ in TableFormat:
        write_tables(examples, run_names(examples), folder / "tables", format_)
    return folder


def test_there_are_ten_questions() -> None:
    assert len(QUESTIONS) == 10


@pytest.mark.parametrize("format_", TableFormat)
@pytest.mark.parametrize("query_id", QUESTIONS)
def test_a_question_has_the_rows_of_its_query(
    query_id: str,
    format_: TableFormat,
    examples: Graph,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    declared = {parameter.name for parameter in load_catalogue()[query_id].parameters}
    parameters = {name: value for name, value in GIVEN.items() if name in declared}
    expected = run(examples, query_id, catalogue=None, **parameters).result.mappings()
    monkeypatch.chdir(folder)
    with duckdb.connect() as connection:
        connection.execute(VIEWS.replace(".parquet'", f".{format_.value}'"))
        found = connection.execute(QUESTIONS[query_id])
        columns = [column[0] for column in found.description]
        rows = found.fetchall()
    assert rows
    assert rows == [tuple(row[column] for column in columns) for row in expected]
