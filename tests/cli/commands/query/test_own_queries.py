"""Users' query files run like the canned ones, and their check explains each problem."""

import json
import os
from pathlib import Path

import pytest

SOUND = """\
// Values of at least a size
// @kind     table
// @answers  Which values are as large as that?
// @param    compilation STRING           key of a compilation
// @param    leastBytes  INTEGER = 100    the least size
// @param    donated     BOOLEAN = true   parameters too
// @column   value       STRING           label of the value
// @column   sizeBytes   INTEGER          assigned size
// @measure  assigned
// @status   experimental
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)
MATCH (a)-[:HOLDS]->(v:Value)
WHERE v.sizeBytes >= $leastBytes AND ($donated OR a.parameterNumber IS NULL)
RETURN v.label AS value, v.sizeBytes AS sizeBytes
ORDER BY sizeBytes DESC, value
"""


def write(text, name="mine/large.cypher", folder="own"):
    path = Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("named", ["before the id", "after the id", "with =", "environment"])
def test_an_own_query_runs_from_any_folder_that_is_named(run, graph, monkeypatch, named):
    write(SOUND)
    asked = ["mine/large", "--compilation", "jit_g", "--format", "json"]
    if named == "environment":
        monkeypatch.setenv("XLAGRAPH_QUERIES", "own")
    elif named == "with =":
        asked.append("--queries=own")
    else:
        asked[0 if named == "before the id" else 1 : 0] = ["--queries", "own"]
    ended = run("query", *asked)
    assert ended.code == 0, ended.err
    assert json.loads(ended.out) == [{"value": "t", "sizeBytes": 128}]


def test_its_parameters_are_options_and_a_flag_can_be_negated(run, graph):
    write(SOUND)
    asked = ("query", "mine/large", "--queries", "own", "--compilation", "jit_g")
    listed = run(*asked, "--least-bytes", 64, "--no-donated", "--format", "csv").out
    assert listed == "value,sizeBytes\nt,128\nout,64\n"
    assert "--no-donated" in run(*asked, "--help").out
    assert run(*asked, "--show").out.endswith(
        "WHERE v.sizeBytes >= 100 AND (true OR a.parameterNumber IS NULL)\n"
        "RETURN v.label AS value, v.sizeBytes AS sizeBytes\nORDER BY sizeBytes DESC, value\n"
    )


def test_it_is_listed_and_completed_with_the_others(run, complete, monkeypatch):
    write(SOUND)
    listed = json.loads(run("query", "--queries", "own", "--format", "json").out)
    assert {"id": "mine/large", "question": "Which values are as large as that?"} in listed
    assert len(listed) > 20
    assert "mine/large" in run("query", "--help", "--queries", "own").out
    monkeypatch.setenv("XLAGRAPH_QUERIES", os.pathsep.join(("own", "own")))
    assert complete(("xlagraph", "query", "mi")) == ["mine/large"]


def test_a_missing_folder_is_named_except_during_shell_completion(run, complete, monkeypatch):
    ended = run("query", "--queries", "nowhere")
    assert ended.code == 1
    assert ended.err == "error: nowhere: no such folder; name one that contains theme/noun.cypher\n"
    monkeypatch.setenv("XLAGRAPH_QUERIES", "nowhere")
    assert complete(("xlagraph", "query", "peak/con")) == []


def test_a_wrong_file_does_not_stop_the_others(run, graph):
    bad = write(SOUND.replace("@kind     table", "@kind     tabel"), "mine/bad.cypher")
    write(SOUND)
    asked = ("query", "mine/large", "--queries", "own", "--compilation", "jit_g")
    ended = run(*asked)
    assert ended.code == 0
    assert f"left out: {bad}:2: expected @kind table, series or graph, found 'tabel'" in ended.err
    ended = run("query", "mine/bad", "--queries", "own")
    assert ended.code == 1
    assert f"{bad}:2: " in ended.err
    assert "mine/bad cannot run" in ended.err


def test_correct_queries_pass_the_check(run):
    write(SOUND)
    ended = run("query", "--check", "own")
    assert (ended.code, ended.err) == (0, "no problem with the queries below own\n")


CHANGES = {
    "a typo in a declaration": (
        "@measure  assigned",
        "@measure  asigned",
        "9: expected one of reserved,",
    ),
    "a type that is none": ("INTEGER = 100", "INT = 100", "5: expected a type, one of STRING,"),
    "a default of another type": (
        "INTEGER = 100",
        "INTEGER = many",
        "5: the default many is not of",
    ),
    "a word of the command": ("donated ", "format ", "6: @param format is taken "),
    "a word of Python": ("donated ", "lambda ", "6: @param lambda is taken "),
    "a parameter that is not declared": ("$leastBytes", "$least", "13: $least is not declared;"),
    "a column that is not returned": (
        " AS sizeBytes\n",
        " AS size\n",
        '8: @column sizeBytes is not returned; add "… AS sizeBytes" or drop the line',
    ),
    "a relationship that is none": (
        ":HOLDS",
        ":HOLD",
        "12: the schema has no relationship type HOLD; did you mean HOLDS?",
    ),
    "a property that is none": (
        "v.sizeBytes >=",
        "v.size >=",
        "13: the schema has no property size of Value; did you mean sizeBytes",
    ),
    "a statement that writes": ("ORDER BY", "SET v.x = 1 ORDER BY", "15: SET writes"),
    "what is still being loaded": (", state: 'complete'", "", "11: sees compilations that are"),
    "what only an engine rejects": (
        "v.label AS value",
        "foo(v.label) AS value",
        "11: the engine rejects it: ",
    ),
    "a word that is missing": ("ORDER BY", "ORDER", "15: "),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_check_says_where_the_problem_is_and_how_to_correct_it(run, change):
    old, new, said = CHANGES[change]
    assert old in SOUND
    path = write(SOUND.replace(old, new))
    ended = run("query", "--check", "own")
    assert ended.code == 1
    assert ended.out == ""
    assert f"{path}:{said}" in ended.err


def test_the_check_of_a_missing_folder_or_query_says_so(run):
    Path("empty").mkdir()
    for folder, said in (
        ("nowhere", "nowhere: no such folder; "),
        ("empty", "empty: contains no query; add one at theme/noun-phrase.cypher"),
        (write(SOUND, "large.cypher", "flat"), "is a file; name the folder"),
        ("flat", "flat/large.cypher:1: 'large' is not an id; move the file to theme/noun-"),
    ):
        ended = run("query", "--check", folder)
        assert ended.code == 1
        assert said in ended.err


def test_an_id_that_already_exists_is_refused(run):
    path = write(SOUND, "peak/contributors.cypher")
    said = f"{path}:1: peak/contributors is already part of xlagraph; rename this file"
    assert said in run("query", "--check", "own").err
    assert f"left out: {path}:1: " in run("query", "--queries", "own").err
