"""What one command wrote, the next one reads: bookmarks between processes."""

import base64
import threading
from pathlib import Path

import pytest

from tests.graph.made_rows import made_rows
from xlagraph.graph import open_graph


@pytest.fixture
def routed(neo4j_server, neo4j_graph, tmp_path, monkeypatch):
    """The URI of the server as one of a cluster has it, and the file of its bookmarks."""
    del neo4j_graph
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    uri = f"neo4j://{neo4j_server.uri.partition('://')[2]}"
    with open_graph(uri) as graph, graph.load() as load:
        load.write(made_rows())
    (kept,) = (tmp_path / "state/xlagraph/bookmarks").iterdir()
    return uri, kept


def test_a_command_reads_what_the_one_before_wrote(routed, neo4j_server):
    """It waits for the transaction that the kept bookmark names: here one that is to come."""
    uri, kept = routed
    kept.write_text(f'["{following(kept)}"]')
    found: list[object] = []

    def ask():
        with open_graph(uri) as graph:
            found.extend(graph.query("MATCH (r:Run) RETURN r.tags AS tags").rows)

    asking = threading.Thread(target=ask)
    asking.start()
    with neo4j_server.driver() as driver:
        database = neo4j_server.database or "neo4j"
        driver.execute_query("MATCH (r:Run) SET r.tags = ['new=1']", database_=database)
    asking.join()
    assert found == [(["new=1"],)]


def following(kept: Path) -> str:
    """Return the bookmark of the transaction after that of a kept one, which ends in its number."""
    (bookmark,) = kept.read_text().strip('[]"').split('", "')
    version, _, coded = bookmark.partition(":")
    packed = base64.b64decode(coded)
    # a list of pairs: 16 bytes that name the database, and a number of as many bytes as it needs
    number, end = packed[19:-1], packed[-1:]
    grown = int.from_bytes(number[1:] or number) + 1
    size = len(number[1:])
    coded_number = number[:1] + grown.to_bytes(size) if size else grown.to_bytes(1)
    return f"{version}:{base64.b64encode(packed[:19] + coded_number + end).decode()}"


@pytest.mark.parametrize("text", ['["rubbish"]', "{", '{"a": 1}', "[1]"])
def test_kept_bookmarks_that_do_not_fit_are_forgotten(routed, text):
    uri, kept = routed
    kept.write_text(text)
    with open_graph(uri) as graph:
        assert graph.query("MATCH (r:Run) RETURN count(*) AS runs").rows == ((1,),)
