"""Statements at which the embedded engine is wrong or dies: errors in sentences."""

import ladybug
import pytest

from xlagraph.graph import QueryFailed


def test_a_count_that_overflows_is_an_error(loaded):
    patterns = ", ".join(f"(n{number}:Value)" for number in range(16))
    text = f"UNWIND range(1, 10000000) AS x MATCH {patterns} RETURN count(*) AS n"
    with pytest.raises(QueryFailed, match=r"a count of the statement is beyond 2\^53"):
        loaded.query(text)


def test_an_interval_is_an_error_that_says_how_to_return_it(loaded):
    with pytest.raises(QueryFailed, match=r"CAST\(… AS STRING\)"):
        loaded.query("RETURN interval('3000000 years') AS long")
    text = "RETURN CAST(interval('1 day') AS STRING) AS text"
    assert loaded.query(text).rows == (("1 day",),)


def test_dates_are_texts(loaded):
    text = "RETURN date('2020-02-29') AS day, [timestamp('2020-02-29 10:00:00')] AS times"
    assert loaded.query(text).rows == (("2020-02-29", ["2020-02-29T10:00:00"]),)


def test_a_statement_that_ends_the_engine_is_an_error_of_its_process(loaded, monkeypatch, tmp_path):
    dies = tmp_path / "python"
    dies.write_text("#!/bin/sh\nkill -SEGV $$\n")
    dies.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(dies))
    with pytest.raises(QueryFailed, match=r"the embedded engine ended at this statement \(Segm"):
        loaded.query("RETURN 1 AS one", in_process=True)


def test_a_separate_process_returns_the_same_rows_and_errors(loaded):
    text = "MATCH p = (v:Value)<-[h:HOLDS]-(a) RETURN p, $list AS list ORDER BY v.key LIMIT 1"
    given = {"list": [1, 2]}
    assert loaded.query(text, given, in_process=True) == loaded.query(text, given)
    with pytest.raises(QueryFailed, match="cannot be read"):
        loaded.query("RETURN", in_process=True)


def test_a_statement_is_ended_with_its_process_after_the_time_limit(loaded):
    # the engine itself looks at the time only between two rows
    text = "RETURN size(lpad('a', 2000000000, 'b')) AS n"
    with pytest.raises(QueryFailed, match=r"^the statement took longer than 1\.5 s$"):
        loaded.query(text, in_process=True, timeout_seconds=1.5)


def test_a_statement_that_finds_the_memory_of_the_engine_full_is_run_again(loaded, monkeypatch):
    assert loaded.query("RETURN 1 AS one").rows == ((1,),)
    results = iter([RuntimeError("Buffer manager exception: Unable to allocate memory!")])
    execute = ladybug.Connection.execute

    def full_once(
        connection: ladybug.Connection, text: str, given: dict[str, object] | None = None
    ) -> object:
        if error := next(results, None):
            raise error
        return execute(connection, text, given)

    monkeypatch.setattr(ladybug.Connection, "execute", full_once)
    assert loaded.query("RETURN 2 AS two").rows == ((2,),)


def test_a_statement_that_fills_the_memory_of_a_fresh_engine_is_an_error(loaded):
    with pytest.raises(QueryFailed, match="more memory than the engine may take"):
        loaded.query("RETURN range(1, 3000000000) AS n")


def test_a_message_does_not_repeat_a_long_statement(loaded):
    with pytest.raises(QueryFailed) as failed:
        loaded.query("RETURN " + "1, " * 20_000)
    assert len(str(failed.value)) < 2_100
