"""Statements that the embedded engine answers differently from Neo4j: right rows, or a refusal."""

from contextlib import suppress

import pytest

from xlagraph.graph import QueryFailed, QueryRefused, open_graph
from xlagraph.graph.ladybug.other_meanings import check_meanings

_OPTIONAL = "MATCH (i:Instruction) OPTIONAL MATCH (i)<-[:USED_BY]-(v:Value) WHERE "
_EXISTS = "MATCH (i:Instruction) WHERE EXISTS { MATCH (v:Value)-[:USED_BY]->(i) WHERE "


def checked(text: str, **parameters: str | int) -> None:
    check_meanings(text, parameters)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("MATCH (v:Value) RETURN COUNT { MATCH (v)-->() } AS n", "of nothing is 1"),
        ("RETURN substring('abc', 1) AS a", "use left and right"),
        ("RETURN reverse([1, 2]) AS a", "only texts"),
        ("MATCH (v:Value) RETURN labels(v) AS a", "labels is not a list"),
        ("MATCH (v:Value) RETURN v.name CONTAINS '' AS a", "leave the condition out"),
        ("RETURN [1, 2][0] AS a", "count from 1"),
        ("MATCH p = (v)-->() RETURN nodes(p)[$n + 1] AS a", "count from 1"),
        ("MATCH (v:Value:Instruction) RETURN v", "either label"),
        ("RETURN 1 AS a UNION RETURN 2 AS b", "same names"),
        ("RETURN 1 AS a, 2 AS b UNION ALL RETURN 2 AS b, 1 AS a", "same names"),
        ("RETURN CAST('2300-01-01' AS TIMESTAMP_NS) AS a", "years 1678 to 2262"),
        ("RETURN CAST('2300-01-01', 'timestamp_ns') AS a", "years 1678 to 2262"),
        ("RETURN factorial(21) AS a", "beyond 20"),
        ("RETURN epoch_ms(9223372036854775807) AS a", "use to_timestamp"),
        ("RETURN range(-9223372036854775807, 9) AS a", "range is wrong"),
        ("RETURN list_sum([9223372036854775807, 1]) AS a", "use UNWIND and sum"),
        (_OPTIONAL + "i.opcode IS NULL RETURN v", r"test i\.opcode in a WITH"),
        (_OPTIONAL + "v.sizeBytes > 1 OR i.opcode = 'add' RETURN v", r"test i\.opcode"),
        (_OPTIONAL + "NOT (i.opcode = 'add' AND v.sizeBytes > 9) RETURN v", r"test i\.opcode"),
        (_EXISTS + "i.opcode IS NULL } RETURN i", r"test i\.opcode"),
        ("MATCH (v)-[:USED_BY]->(i)<-[:USED_BY]-(w) RETURN count(*) AS n", "USED_BY twice"),
        ("MATCH (a)-[:HOLDS]->(v), (a)-[:HOLDS]->(w) RETURN count(*) AS n", "HOLDS twice"),
        ("MATCH (a)--(v)-[:HOLDS]-(w) RETURN count(*) AS n", "relationship twice"),
    ],
)
def test_what_the_engine_would_answer_wrongly_is_refused(text, says):
    with pytest.raises(QueryRefused, match=says):
        checked(text)


def test_a_range_from_a_large_parameter_is_refused():
    with pytest.raises(QueryRefused, match="range is wrong"):
        checked("RETURN range(-1, $end) AS a", end=2**63 - 1)
    checked("RETURN range(-1, $end) AS a", end=2**62 - 1)
    checked("RETURN $end AS a", end=2**63 - 1)


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (v:Value) RETURN count(v) AS n",
        "RETURN [1, 2][0..1] AS a, [1, 2][-1] AS b, 1 IN [1] AS c, CASE WHEN true THEN [1] END",
        "RETURN {a: [1]} AS m, reverse('abc') AS r",
        "MATCH (v:Value|Instruction) WHERE v.name STARTS WITH 'a' WITH v RETURN v.name AS keys",
        "RETURN 1 AS a UNION ALL MATCH (v:Value) RETURN v.sizeBytes AS a ORDER BY a LIMIT 1",
        _OPTIONAL + "v.liveUntil IS NULL RETURN v",
        _OPTIONAL + "i.opcode = 'add' AND v.sizeBytes > i.step RETURN v",
        _OPTIONAL + "v.sizeBytes > 9 OR v.key = i.key RETURN v",
        "MATCH (i:Instruction) WHERE i.opcode IS NULL OR i.step > 3 RETURN i",
        "MATCH (v)-[:REUSES]->(w)-[:REUSES]->(x) RETURN count(*) AS n",
        "MATCH (v)-[:USED_BY]->(i)<-[:USED_BY]-(w) WHERE v.key <> w.key RETURN count(*) AS n",
        "MATCH (v)-[:USED_BY]->(i)<-[:DEFINES]-(w), (v)-[:REUSES*1..3]->(x) RETURN count(*) AS n",
        "MATCH (v)-[:USED_BY]->(i) MATCH (i)<-[:USED_BY]-(w) RETURN count(*) AS n",
    ],
)
def test_statements_that_mean_the_same_are_allowed(text):
    checked(text)


def test_a_cut_statement_is_left_to_the_engine():
    text = _OPTIONAL + "i.opcode = 'a' AND v.key = i. RETURN [1, 2][0..] AS a UNION RETURN 1 AS a"
    for end in range(len(text)):
        with suppress(QueryRefused):
            checked(text[:end])


def test_an_empty_text_is_only_allowed_where_the_statement_tests_for_it():
    with pytest.raises(QueryRefused, match="leave the condition out"):
        checked("MATCH (v:Value) WHERE v.name CONTAINS $part RETURN v", part="")
    checked("MATCH (v:Value) WHERE v.name CONTAINS $part RETURN v", part="a")
    checked("MATCH (v:Value) WHERE $part = '' OR v.name CONTAINS $part RETURN v", part="")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("MATCH (n:Foo) RETURN n", "the graph has no label or relationship type Foo"),
        ("MATCH (n:Value) RETURN n.foo", "n has no property foo"),
        ("RETURN x", "no variable is called x here"),
        ("RETURN foo(1) AS a", "the embedded engine has no function FOO"),
        ("RETURN 'a' + 1 AS a", r"\+\(STRING,INT64\) does not exist: the types do not fit"),
        ("RETURN round(2.5) AS a", r"the function ROUND does not take \(DOUBLE\)"),
        ("RETURN 1 AS end", r"the statement cannot be read after `RETURN 1 AS end` \(line 1\)"),
        ("RETURN max(null) AS a", "has no type"),
        ("RETURN 1/0 AS a", r"Divide by zero\.$"),
        (r"RETURN '\ud800' AS a", "not UTF-8"),
    ],
)
def test_messages_are_sentences_without_names_of_exceptions(empty_graph, text, says):
    with pytest.raises(QueryFailed, match=says) as failed:
        empty_graph.query(text)
    assert "exception" not in str(failed.value)


@pytest.mark.parametrize("pattern", ["(", "*", "a(?=b)", r"\1", "a\\"])
def test_a_pattern_that_the_engine_cannot_read_fails(empty_graph, pattern):
    with pytest.raises(QueryFailed, match="cannot read the pattern"):
        empty_graph.query("MATCH (v:Value) WHERE v.name =~ $p RETURN v.name", {"p": pattern})


def test_patterns_that_the_engine_reads_are_used(empty_graph):
    text = (
        "RETURN 'Ab.c' =~ '(?i)a.*' AND 'a' =~ $p AND NOT 'ab' =~ 'a' AND 'ab' =~ ('a' + 'b') AS a"
    )
    assert empty_graph.query(text, {"p": "[a-c]|"}).rows == ((True,),)


@pytest.fixture(scope="module")
def empty_graph(tmp_path_factory):
    with open_graph(tmp_path_factory.mktemp("graph") / "g.lbug", create=True) as graph:
        yield graph
