"""`cypher` runs a statement with parameters."""

import io
import json


def test_cypher_takes_a_statement_and_its_parameters_as_json_or_strings(run, graph):
    statement = "RETURN $number + 1 AS sum, $text AS text, size($list) AS length"
    given = ("--param", "number=41", "--param", "text=a b", "--param", "list=[1, 2, 3]")
    ended = run("cypher", statement, *given, "--format", "json")
    assert json.loads(ended.out) == [{"sum": 42, "text": "a b", "length": 3}]


def test_cypher_names_similar_names_for_an_unknown_name(run, graph):
    ended = run("cypher", "MATCH (v:Valeu) RETURN v.label AS label")
    assert ended.code == 1
    assert "line 1: the schema has no label Valeu; did you mean Value?" in ended.err
    ended = run("cypher", "MATCH (v:Value)\nRETURN v.size AS size")
    assert ended.code == 1
    assert "line 2: the schema has no property size of Value; did you mean sizeBytes?" in ended.err
    fine = "WITH {size: 1} AS given MATCH (r:Run) RETURN given.size AS size LIMIT 1"
    assert "schema" not in run("cypher", fine).err


def test_cypher_reads_stdin(run, graph, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("MATCH (r:Run) RETURN count(r) AS runs\n"))
    assert run("cypher", "-", "--format", "csv").out == "runs\n2\n"


def test_cypher_ends_a_statement_after_its_time_limit(run, graph):
    ended = run("cypher", "RETURN size(lpad('a', 2000000000, 'b')) AS n", "--timeout", "0.5")
    assert (ended.code, ended.out) == (1, "")
    assert "the statement took longer than 0.5 s" in ended.err
    assert run("cypher", "RETURN 1 AS n", "--timeout", "0").code == 2
