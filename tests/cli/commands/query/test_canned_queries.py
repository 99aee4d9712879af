"""`query` lists the canned queries and runs one, with its parameters as options."""

import json

from tests.tiny_dumps import AFTER_F


def test_query_without_an_id_lists_ids_and_questions_without_a_graph(run):
    ended = run("query", "--format", "json")
    listed = json.loads(ended.out)
    assert {"id": "peak/contributors"}.items() <= listed[
        [row["id"] for row in listed].index("peak/contributors")
    ].items()
    assert all(row["question"].endswith("?") for row in listed)
    assert ended.err == ""


def test_the_parameters_of_a_query_are_its_options(run, graph):
    ended = run(
        *("query", "peak/contributors", "--compilation", "before/module_0001", "--limit", 1),
        *("--format", "json"),
    )
    (row,) = json.loads(ended.out)
    assert (row["value"], row["physicalBytes"], row["sourceFile"], row["sourceLine"]) == (
        *("t", 256, "f.py", 5),
    )


def test_the_default_compilation_is_named(run, graph):
    ended = run("query", "peak/by-line", "--format", "csv")
    assert ended.out.splitlines()[1].startswith("f.py,5,")
    assert AFTER_F in ended.err


def test_options_of_rows_may_precede_the_id(run, graph):
    before = run("query", "--format", "csv", "peak/by-line")
    assert before == run("query", "peak/by-line", "--format", "csv")


def test_the_compilation_may_follow_the_id(run, graph):
    for name in ("before", "before/module_0001"):
        named = run("query", "peak/by-line", name, "--format", "csv")
        assert named.code == 0
        assert named == run("query", "peak/by-line", "-c", name, "--format", "csv")
    picture = run("query", "graph/peak", "before/module_0001", "--format", "csv")
    assert picture == run("query", "graph/peak", "-c", "before/module_0001", "--format", "csv")


def test_two_compilations_or_one_for_a_query_without_one_are_usage_errors(run, graph):
    twice = run("query", "peak/by-line", "before", "--compilation", "after")
    assert twice.code == 2
    assert "two compilations are given, before and after; peak/by-line takes one" in twice.err
    runs = run("query", "overview/totals", "before", "--run", "after")
    assert "two runs are given, before and after; overview/totals takes one" in runs.err
    assert run("query", "compare/ops", "before").code == 2


def test_a_run_may_follow_the_id_of_a_query_about_runs(run, graph):
    named = run("query", "overview/totals", "before", "--format", "csv")
    assert named.code == 0
    assert named == run("query", "overview/totals", "--run", "before", "--format", "csv")


def test_an_answer_without_rows_says_what_that_means(run, graph):
    ended = run("query", "alias/donated", "before")
    assert ended.code == 0
    assert ended.err.endswith(
        "nothing is donated in this compilation; alias/not-donated lists inputs that could be\n"
    )
    for format_ in ("json", "csv"):
        machine = run("query", "alias/donated", "before", "--format", format_)
        assert "nothing is donated" not in machine.err


def test_a_memory_space_that_does_not_exist_is_an_error(run, graph):
    ended = run("query", "waste/duplicates", "before", "--memory-space", 5)
    assert (ended.code, ended.out) == (1, "")
    assert "nothing is allocated in memory space 5 of before/" in ended.err
    assert ended.err.endswith("; the memory spaces in use: 0\n")


def test_a_query_without_an_empty_message_says_no_rows(run, graph, tmp_path):
    own = tmp_path / "own" / "mine" / "steps.cypher"
    own.parent.mkdir(parents=True)
    header = [
        "// Steps beyond the schedule",
        "// @kind     table",
        "// @answers  Which steps are beyond the schedule?",
        "// @column   step INTEGER its number",
        "// @measure  none",
        "// @status   experimental",
    ]
    statement = "UNWIND [1] AS step WITH step WHERE step > 1 RETURN step ORDER BY step"
    own.write_text("\n".join([*header, statement]))
    asked = ("query", "mine/steps", "--queries", tmp_path / "own")
    assert run(*asked).err.endswith("\nno rows\n")
    own.write_text("\n".join([*header, "// @empty    no step is beyond the end", statement]))
    assert run(*asked).err.endswith("\nno step is beyond the end\n")


def test_camel_case_parameters_are_options_in_kebab_case(run, graph):
    ended = run(
        "query", "compare/modules", "--run-a", "before", "--run-b", "after", "--format", "json"
    )
    growth = {row["module"]: row["growthBytes"] for row in json.loads(ended.out)}
    assert growth["jit_f"] == 256


def test_the_sides_of_a_query_may_be_functions_of_runs(run, graph):
    asked = ("query", "compare/modules", "--format", "json", "--run-a")
    ended = run(*asked, "before/f", "--run-b", "after/f")
    assert [row["growthBytes"] for row in json.loads(ended.out)] == [256]
    assert "no compilation key contains it" in run(*asked, "before/absent", "--run-b", "after").err
