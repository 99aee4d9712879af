"""Every list has a limit, which is written; 0 is none."""

import json

import pytest

from tests.tiny_dumps import dump, write_dump

MANY = 101


@pytest.fixture
def many(run, tmp_path, monkeypatch):
    """Name a graph of more runs than a table shows."""
    text = dump(256)
    for number in range(MANY):
        write_dump(tmp_path / "runs" / f"r{number:03}", 1, "jit_f", text)
    monkeypatch.setenv("XLAGRAPH_GRAPH", str(tmp_path / "many.lbug"))
    assert run("ingest", tmp_path / "runs").code == 0


@pytest.mark.usefixtures("many")
def test_a_list_for_people_has_a_limit_and_one_for_programs_has_none(run):
    for command in ("runs", "compilations", "check"):
        shown = run(command)
        assert len(shown.out.splitlines()) == 2 + 100
        assert "these are the first 100 of 101 rows; --limit 0 gives all" in shown.err
        assert len(run(command, "--limit", "0").out.splitlines()) == 2 + MANY
        assert len(json.loads(run(command, "--format", "json").out)) == MANY
        few = run(command, "--format", "json", "--limit", "3")
        assert len(json.loads(few.out)) == 3
        assert "these are the first 3 of 101 rows" in few.err
