"""`query` lists the canned queries and asks one, with its parameters as options."""

import json

from tests.tiny_dumps import AFTER_F


def test_query_alone_lists_ids_and_questions_without_a_graph(run):
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


def test_a_compilation_that_nobody_named_is_said(run, graph):
    ended = run("query", "peak/by-line", "--format", "csv")
    assert ended.out.splitlines()[1].startswith("f.py,5,")
    assert AFTER_F in ended.err


def test_options_of_rows_may_stand_before_the_id_too(run, graph):
    before = run("query", "--format", "csv", "peak/by-line")
    assert before == run("query", "peak/by-line", "--format", "csv")


def test_camel_case_parameters_are_options_in_kebab_case(run, graph):
    ended = run(
        "query", "compare/modules", "--run-a", "before", "--run-b", "after", "--format", "json"
    )
    growth = {row["module"]: row["growthBytes"] for row in json.loads(ended.out)}
    assert growth["jit_f"] == 256
