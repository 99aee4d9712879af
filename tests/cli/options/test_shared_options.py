"""Options and names that several commands take: limits, completion, messages."""

import json

import pytest

from tests.tiny_dumps import BEFORE_F, dump, write_dump

MANY = 101


@pytest.fixture
def many(run, tmp_path, monkeypatch):
    """Name a graph with more runs than a table shows."""
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
        assert "showing the first 100 of 101 rows (limit 0 for all)" in shown.err
        assert len(run(command, "--limit", "0").out.splitlines()) == 2 + MANY
        assert len(json.loads(run(command, "--format", "json").out)) == MANY
        few = run(command, "--format", "json", "--limit", "3")
        assert len(json.loads(few.out)) == 3
        assert "showing the first 3 of 101 rows" in few.err


def test_the_name_of_a_run_selects_its_largest_compilation(run, graph):
    for command in (["query", "overview/roles", "-c", "before"], ["value", "p", "-c", "before"]):
        ended = run(*command)
        assert ended.code == 0
        assert f"'before' is a run; using {BEFORE_F}, the largest of 2 compilations" in ended.err


def test_quiet_prints_no_messages_and_verbose_prints_the_versions(run, graph):
    for command in (["-q", "runs"], ["runs", "-q"]):
        assert run(*command).err == ""
    assert "ladybug 0." in run("runs", "-v").err


def test_version_prints_our_version_and_those_of_the_engines_and_schemas(run):
    ended = run("--version")
    assert ended.code == 0
    names = [line.rpartition(" ")[0] for line in ended.out.splitlines()]
    assert names == ["xlagraph", "ladybug", "neo4j driver", "schema"]


def test_the_shell_completes_ids_options_runs_and_compilations(complete, graph):
    key = "before/module_0001.jit_f.cpu_after_optimizations"
    for words, offered in (
        (("xlagraph", "query", "peak/con"), ["peak/contributors"]),
        (("xlagraph", "query", "peak/by-op", "--mem"), ["--memory-space"]),
        (("xlagraph", "query", "peak/by-op", "--compilation", "before/module_0001"), [key]),
        (("xlagraph", "query", "peak/by-op", "before/module_0001"), [key]),
        (("xlagraph", "query", "compare/modules", "--run-a", "be"), ["before"]),
        (("xlagraph", "compare", "before/module_0001"), [key]),
        (("xlagraph", "compilations", "a"), ["after"]),
    ):
        assert complete(words) == offered


def test_the_shell_completes_nothing_without_a_graph(complete):
    words = ("xlagraph", "query", "peak/by-op", "--compilation", "b")
    assert complete(words) == []
