"""Options and names that commands take alike."""

from tests.tiny_dumps import BEFORE_F


def test_name_of_a_run_is_enough_for_its_largest_compilation(run, graph):
    for command in (["query", "overview/roles", "-c", "before"], ["value", "p", "-c", "before"]):
        ended = run(*command)
        assert ended.code == 0
        assert f"'before' is a run; this is {BEFORE_F}, which reserves most of 2" in ended.err


def test_quiet_says_nothing_and_verbose_says_the_versions(run, graph):
    for command in (["-q", "runs"], ["runs", "-q"]):
        assert run(*command).err == ""
    assert "ladybug 0." in run("runs", "-v").err


def test_version_tells_ours_the_engines_and_the_schemas(run):
    ended = run("--version")
    assert ended.code == 0
    names = [line.rpartition(" ")[0] for line in ended.out.splitlines()]
    assert names == ["xlagraph", "ladybug", "neo4j driver", "schema"]
