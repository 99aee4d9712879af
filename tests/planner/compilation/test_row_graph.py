"""The graph of rows, which tests of causes use, answers as an engine does."""

import re

import pytest

from tests.row_graph import ANSWERS, RowGraph
from xlagraph.graph import open_graph
from xlagraph.graph.engine import Result
from xlagraph.ingest import ingest
from xlagraph.queries.runner.compilations import compilation_keys


@pytest.fixture(scope="module")
def answers(corpus, tmp_path_factory):
    """Answers of a graph file and of rows, by statement; for one compilation of each run."""
    found: dict[str, list[tuple[Result, Result]]] = {statement: [] for statement in ANSWERS}
    with open_graph(tmp_path_factory.mktemp("graph") / "corpus.lbug", create=True) as graph:
        assert ingest(graph, [corpus / "versions", corpus / "runs"]).ok
        largest = {key.partition("/")[0]: key for key in reversed(compilation_keys(graph))}
        for key in largest.values():
            rows = RowGraph()
            rows.write(graph.read(key))
            asked = {
                "compilation": key,
                "sides": [key],
                "result": rows.nodes("Compilation")[0]["result"] or "",
                "frames": [frame["key"] for frame in rows.nodes("Frame")],
            }
            for statement, pairs in found.items():
                named = {name: asked[name] for name in set(re.findall(r"\$(\w+)", statement))}
                pairs.append((graph.query(statement, named), rows.query(statement, named)))
    return found


@pytest.mark.parametrize("statement", ANSWERS, ids=lambda text: text.partition("\n")[0])
def test_rows_are_those_of_an_engine(answers, statement):
    is_ordered = "ORDER BY" in statement
    for stored, found in answers[statement]:
        assert found.columns == stored.columns
        if is_ordered:
            assert list(found.rows) == list(stored.rows)
        else:
            assert set(map(repr, found.rows)) == set(map(repr, stored.rows))
