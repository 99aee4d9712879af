"""The newest server version gives the same answers as a file, and its Browser shows them."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.browser.links import (
    SECRET,
    Command,
    assert_a_link_shows_rows,
    server_with_browser,
    write_odd_run,
)
from tests.browser.neo4j_browser import Neo4jBrowser
from tests.graph.made_rows import facts, untimed
from tests.graph.neo4j.leftovers import assert_no_leftovers, first_column
from tests.graph_fixtures import empty, skipped_without_neo4j
from tests.neo4j_server.artifacts import NEWEST
from tests.neo4j_server.server import Neo4jServer, own_server
from tests.queries.suitable_parameters import suitable_parameters
from tests.tiny_dumps import STEM, dump, write_dump, write_runs
from xlagraph.graph import open_graph, remove
from xlagraph.ingest import ingest
from xlagraph.queries import load_catalogue


@pytest.fixture(scope="module")
def browser_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A server of the newest version, with Browser; it is empty."""
    start = partial(own_server, version=NEWEST, is_short_lived=True)
    with (
        skipped_without_neo4j(),
        server_with_browser(tmp_path_factory.mktemp("newest"), start) as server,
    ):
        yield server


def test_its_browser_shows_the_rows_of_a_link(
    browser_server: Neo4jServer, neo4j_browser: Neo4jBrowser, command: Command, tmp_path: Path
) -> None:
    write_odd_run(tmp_path)
    with open_graph(browser_server.uri) as graph:
        assert ingest(graph, tmp_path, jobs=1).ok
    assert_a_link_shows_rows(neo4j_browser, command)


def test_it_stores_and_answers_the_same_as_a_file(
    browser_server: Neo4jServer, no_connection_named: None, monkeypatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", SECRET)
    empty(browser_server)
    runs = write_runs(tmp_path / "runs")
    changed = STEM.format(number=1, module="jit_f")

    def both_hold_the_same():
        found, expected = (
            first_column(one, "MATCH (c:Compilation) RETURN c.key AS key ORDER BY key")
            for one in (graph, file)
        )
        assert found == expected
        for key in found:
            read, kept = (facts(one.read(key), without=["ingestedAt"]) for one in (graph, file))
            assert read == kept
        assert_no_leftovers(graph)

    with (
        open_graph(browser_server.uri) as graph,
        open_graph(tmp_path / "g.lbug", create=True) as file,
    ):
        assert graph.versions["neo4j server"] == NEWEST
        for one in (graph, file):
            assert ingest(one, runs, jobs=1).ok
        both_hold_the_same()
        # one query of each theme; the full tests can also run on that version
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
