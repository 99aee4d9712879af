"""Statements that a thread runs while the caller computes."""

import threading
import time

import ladybug
import pytest

from xlagraph.graph import QueryFailed, QueryRefused
from xlagraph.graph.asked_once import AskedOnce

VALUES = "MATCH (v:Value) RETURN v.key AS key, $half AS half ORDER BY key"
ENDLESS = "UNWIND range(1, 100000000) AS x UNWIND range(1, 100000) AS y RETURN count(*) AS n"
HERE = threading.main_thread()


@pytest.fixture
def threads(monkeypatch):
    """Record the thread of each statement that the engine runs, by its text."""
    threads: dict[str, list[threading.Thread]] = {}
    execute = ladybug.Connection.execute

    def recorded(self, text, *arguments, **options):
        threads.setdefault(text, []).append(threading.current_thread())
        return execute(self, text, *arguments, **options)

    monkeypatch.setattr(ladybug.Connection, "execute", recorded)
    return threads


def wait_for(threads, text):
    while text not in threads:
        time.sleep(0.01)


def test_the_rows_are_those_that_the_caller_would_read(loaded, threads):
    expected = loaded.query(VALUES, {"half": 0.5})
    threads.clear()
    with loaded.read_ahead([(VALUES, {"half": 0.5, "unnamed": 1})]):
        wait_for(threads, VALUES)
        assert loaded.query(VALUES, {"half": 0.5}) == expected
    (thread,) = threads[VALUES]
    assert thread is not HERE


def test_what_the_thread_has_not_begun_runs_at_once(loaded, threads):
    with loaded.read_ahead([(ENDLESS, {}), (VALUES, {"half": 0.5})]):
        wait_for(threads, ENDLESS)
        assert loaded.query(VALUES, {"half": 0.5}).rows
        assert threads[VALUES] == [HERE]
        loaded.close()


def test_an_inner_block_is_read_first(loaded, threads):
    first = "RETURN 1 AS one"
    with loaded.read_ahead([(ENDLESS, {})]):
        wait_for(threads, ENDLESS)
        with loaded.read_ahead([(VALUES, {"half": 0.5})]), loaded.read_ahead([(first, {})]):
            assert loaded.query(first).rows == ((1,),)
        loaded.close()
    with loaded.read_ahead([(first, {}), (VALUES, {"half": 0.5})]):
        wait_for(threads, VALUES)
    assert list(threads)[-2:] == [first, VALUES]


def test_other_parameters_and_limits_are_other_statements(loaded, threads):
    with loaded.read_ahead([(VALUES, {"half": 0.5})]):
        wait_for(threads, VALUES)
        assert loaded.query(VALUES, {"half": 0.25}).rows[0][1] == 0.25
        with pytest.raises(QueryFailed, match="more than 1 rows"):
            loaded.query(VALUES, {"half": 0.5}, max_rows=1)


def test_a_statement_that_fails_raises_where_it_is_asked(loaded):
    unknown, writing = "MATCH (v:Value) RETURN v.nothing AS nothing", "CREATE (v:Value)"
    with loaded.read_ahead([(unknown, {}), (writing, {}), (VALUES, {})]):
        with pytest.raises(QueryFailed, match="has no property nothing"):
            loaded.query(unknown)
        with pytest.raises(QueryRefused):
            loaded.query(writing)
        with pytest.raises(QueryFailed, match=r"no value for \$half"):
            loaded.query(VALUES)


def test_rows_that_nobody_asked_are_not_kept_after_the_block(loaded, threads):
    with loaded.read_ahead([(VALUES, {"half": 0.5})]):
        wait_for(threads, VALUES)
    loaded.query(VALUES, {"half": 0.5})
    assert threads[VALUES][-1] is HERE


def test_a_load_makes_the_rows_old(loaded, threads):
    count = "MATCH (v:Value) RETURN count(*) AS n"
    with loaded.read_ahead([(count, {})]):
        wait_for(threads, count)
        with loaded.load() as load:
            load.remove("run/a")
        assert threads[count]
        loaded.query(count)
        assert threads[count][-1] is HERE


def test_closing_the_graph_ends_a_statement_that_runs(loaded, threads):
    with loaded.read_ahead([(ENDLESS, {}), (VALUES, {"half": 0.5})]):
        wait_for(threads, ENDLESS)
        loaded.close()
    assert VALUES not in threads
    assert loaded.query(VALUES, {"half": 0.5}).rows


def test_an_answer_that_is_known_is_not_read_again(loaded, threads):
    graph = AskedOnce(loaded)
    expected = graph.query(VALUES, {"half": 0.5})
    with graph.read_ahead([(VALUES, {"half": 0.5})]):
        assert graph.query(VALUES, {"half": 0.5}) == expected
    assert len(threads[VALUES]) == 1
