"""Bookmarks between processes: a command reads the rows that the previous one wrote."""

import base64
import json
import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.graph.made_rows import made_rows
from xlagraph.graph import open_graph


@pytest.fixture
def routed(neo4j_server, neo4j_graph, tmp_path, monkeypatch):
    """The server's URI as one of a cluster has it, and the file of its bookmarks."""
    del neo4j_graph
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    uri = f"neo4j://{neo4j_server.uri.partition('://')[2]}"
    with open_graph(uri) as graph, graph.load() as load:
        load.write(made_rows())
    (kept,) = (tmp_path / "state/xlagraph/bookmarks").iterdir()
    return uri, kept


@pytest.fixture
def sent(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """Yield the messages that the driver sends to servers, from its log."""
    messages: list[str] = []

    def listen(record: logging.LogRecord) -> bool:
        if "C: " in (message := record.getMessage()):
            messages.append(message)
        return False

    log = logging.getLogger("neo4j.io")
    caplog.set_level(logging.DEBUG, log.name)
    log.addFilter(listen)
    yield messages
    log.removeFilter(listen)


def test_a_command_reads_the_rows_of_the_previous_one(routed, neo4j_server, sent):
    """The command waits for the transaction of the stored bookmark, here a future one."""
    uri, kept = routed
    bookmark = following(kept)
    kept.write_text(f'["{bookmark}"]')
    found: list[object] = []

    def ask():
        with open_graph(uri) as graph:
            found.extend(graph.query("MATCH (r:Run) RETURN r.tags AS tags").rows)

    asking = threading.Thread(target=ask)
    asking.start()
    deadline = time.monotonic() + 180
    while not any(bookmark in message for message in sent):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    with neo4j_server.session() as session:
        for _ in range(20):  # others are answered meanwhile
            session.run("RETURN 1 AS one").consume()
        assert asking.is_alive()
        assert found == []
        session.run("MATCH (r:Run) SET r.tags = ['new=1']").consume()
    asking.join()
    assert found == [(["new=1"],)]


def following(kept: Path) -> str:
    """Return the bookmark of the transaction after the last of those that are kept.

    There are several where the heartbeat of a load wrote at the same time as the load.
    """
    last = max(json.loads(kept.read_text()), key=lambda bookmark: int.from_bytes(number(bookmark)))
    version, _, coded = last.partition(":")
    packed = base64.b64decode(coded)
    grown = packed[:19] + packed_number(int.from_bytes(number(last)) + 1) + packed[-1:]
    return f"{version}:{base64.b64encode(grown).decode()}"


def packed_number(number: int) -> bytes:
    """Return a number as PackStream writes it: a byte, or a marker and two or four bytes."""
    if number < 2**7:
        return bytes([number])
    return b"\xc9" + number.to_bytes(2) if number < 2**15 else b"\xca" + number.to_bytes(4)


def number(bookmark: str) -> bytes:
    """Return the number of the transaction that a bookmark names.

    A bookmark is a list of pairs: 16 bytes that name the database, and a number, which is one
    byte, or as many as it needs and a byte before them that tells how many.
    """
    packed = base64.b64decode(bookmark.partition(":")[2])[19:-1]
    return packed[1:] or packed


@pytest.mark.parametrize("text", ['["rubbish"]', "{", '{"a": 1}', "[1]"])
def test_stored_bookmarks_that_are_not_valid_are_deleted(routed, text):
    uri, kept = routed
    kept.write_text(text)
    with open_graph(uri) as graph:
        assert graph.query("MATCH (r:Run) RETURN count(*) AS runs").rows == ((1,),)
