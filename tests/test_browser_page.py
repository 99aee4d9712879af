"""Each statement on the page about Neo4j Browser returns rows."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from xlagraph.graph import Graph, open_graph
from xlagraph.ingest import ingest

TREE = Path(__file__).resolve().parents[1]
PAGE = (TREE / "docs" / "browser.md").read_text(encoding="utf-8")
STATEMENTS = re.findall(r"\n([^\n]+)\n\n```cypher\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """The example runs, which the page describes."""
    with open_graph(tmp_path_factory.mktemp("graph") / "examples.lbug", create=True) as graph:
        ingest(graph, TREE / "examples" / "runs", jobs=1)
        yield graph


def test_there_are_ten_statements() -> None:
    assert len(STATEMENTS) == 10


@pytest.mark.parametrize("statement", [text for _, text in STATEMENTS], ids=dict(STATEMENTS))
def test_a_statement_to_copy_returns_rows(examples: Graph, statement: str) -> None:
    assert examples.query(statement).rows
