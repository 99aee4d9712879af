"""Every canned query gives the rows of its case, on both engines."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.graph_fixtures import empty
from tests.neo4j_server.server import Neo4jServer
from tests.queries.query_cases import Case, read_cases, write_dumps
from xlagraph.graph import Graph, open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import load_catalogue, picture_of, run

CASES = read_cases()
CATALOGUE = load_catalogue()


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the dumps of all cases."""
    root = tmp_path_factory.mktemp("cases")
    write_dumps(CASES, root)
    return root


@pytest.fixture(scope="module", params=["embedded", "neo4j"])
def graph(
    request: pytest.FixtureRequest, dumps: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Graph]:
    """A graph of the dumps of all cases, on each engine in turn."""
    with pytest.MonkeyPatch.context() as environment:
        location: str | Path = tmp_path_factory.mktemp("graph") / "cases.lbug"
        if request.param == "neo4j":
            server: Neo4jServer = request.getfixturevalue("neo4j_server")
            for name, value in server.environment().items():
                environment.setenv(name, value)
            empty(server)
            location = server.uri
        with open_graph(location, create=True) as graph:
            summary = ingest(graph, dumps, jobs=1)
            assert not any(problem.left_out for problem in summary.problems)
            yield graph


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.query)
def test_a_query_gives_the_rows_written_beside_it(graph: Graph, case: Case):
    for ask in case.asks:
        answer = run(graph, case.query, catalogue=CATALOGUE, **ask.parameters)
        declared = [column.name for column in CATALOGUE[case.query].columns]
        assert list(answer.result.columns) == declared
        is_picture = CATALOGUE[case.query].kind == "graph"
        result = picture_of(answer.result).edge_table() if is_picture else answer.result
        rows = [tuple(row.get(name) for name in ask.columns) for row in result.mappings()]
        expected = ask.rows
        if is_picture:  # only the set of edges matters
            rows, expected = sorted(rows, key=str), sorted(expected, key=str)
        assert rows == expected, f"cases/{case.query}.txt:{ask.line}"


def test_every_query_has_a_case():
    assert {case.query for case in CASES} == set(CATALOGUE)
