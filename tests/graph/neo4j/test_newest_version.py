"""The newest version of the server holds and answers what a file does."""

import os

import pytest

from tests.graph.made_rows import facts, untimed
from tests.graph.neo4j.left_over import assert_nothing_is_left_over, cells
from tests.graph_fixtures import NEWEST, VERSION, NoNeo4j, own_server, skipped_without_neo4j
from tests.queries.suitable_parameters import suitable_parameters
from tests.tiny_dumps import STEM, dump, write_dump, write_runs
from xlagraph.graph import open_graph, remove
from xlagraph.ingest import ingest
from xlagraph.queries import load_catalogue

pytestmark = pytest.mark.usefixtures("no_connection_named")


@pytest.fixture
def server_home(tmp_path):
    """A folder for a server of the test's own; skips where none can be started."""
    if os.environ.get("NEO4J_URI"):
        pytest.skip("NEO4J_URI is set: this test would start and kill a server of its own")
    with skipped_without_neo4j():
        return tmp_path / "home"


@pytest.fixture
def newest_server(server_home):
    """A server of the newest version; skips where no Java is new enough, whatever is required."""
    if VERSION == NEWEST:
        pytest.skip("all tests are of the newest version")
    try:
        with own_server(server_home, version=NEWEST, is_brief=True) as (server, _):
            yield server
    except NoNeo4j as reason:
        pytest.skip(str(reason))


def test_the_newest_version_holds_and_answers_what_the_file_does(newest_server, tmp_path):
    runs = write_runs(tmp_path / "runs")
    changed = STEM.format(number=1, module="jit_f")

    def both_hold_the_same():
        found, expected = (
            cells(one, "MATCH (c:Compilation) RETURN c.key AS key ORDER BY key")
            for one in (graph, file)
        )
        assert found == expected
        for key in found:
            read, kept = (facts(one.read(key), without=["ingestedAt"]) for one in (graph, file))
            assert read == kept
        assert_nothing_is_left_over(graph)

    with (
        open_graph(newest_server.uri) as graph,
        open_graph(tmp_path / "g.lbug", create=True) as file,
    ):
        assert graph.versions["neo4j server"] == NEWEST
        for one in (graph, file):
            assert ingest(one, runs, jobs=1).ok
        both_hold_the_same()
        # one of each theme: all of them are asked where the tests run on that version
        themes = {query.id.partition("/")[0]: query for query in load_catalogue().values()}
        for query in themes.values():
            given = suitable_parameters(query)
            found, expected = (
                untimed(one.query(query.text, given).mappings()) for one in (graph, file)
            )
            assert found == expected, query.id
        write_dump(runs / "before", 1, "jit_f", dump(1024))
        for one in (graph, file):
            assert ingest(one, runs, jobs=1).updated == (f"before/{changed}",)
        both_hold_the_same()
        for one in (graph, file):
            remove(one, "before")
        both_hold_the_same()
