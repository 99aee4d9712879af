"""Ad-hoc Cypher can only read the graph; it cannot change it, or reach disk or network."""

from pathlib import Path

import pytest

from tests.faults.harness.graph_states import all_rows
from tests.graph_fixtures import GraphOf
from tests.tiny_dumps import ingest_two_runs
from xlagraph.graph import Graph, QueryFailed, QueryRefused
from xlagraph.queries import run_statement

WRITES = {
    "create": "CREATE (:Run {key: 'x'})",
    "create after a comment": "// reads nothing\n/* or */ CREATE (:Run {key: 'x'})",
    "merge": "MERGE (:Run {key: 'x'})",
    "merge after match": "MATCH (o:Op) MERGE (p:Op {key: 'x'}) RETURN p.key AS key",
    "set": "MATCH (r:Run) SET r.name = 'x'",
    "set in small letters": "match (r:Run) set r.name = 'x'",
    "remove": "MATCH (r:Run) REMOVE r.name",
    "delete": "MATCH (r:Run) DETACH DELETE r",
    "delete relationships": "MATCH (:Run)-[c:COMPILED]->() DELETE c",
    "foreach": "MATCH (r:Run) FOREACH (x IN [1] | SET r.name = 'x')",
    "write and return": "MATCH (r:Run) SET r.name = 'x' RETURN r.name AS name",
    "explained create": "EXPLAIN CREATE (:Run {key: 'x'})",
    "profiled delete": "PROFILE MATCH (r:Run) DETACH DELETE r",
    "subquery": "MATCH (r:Run) CALL { WITH r SET r.name = 'x' } RETURN 1 AS one",
    "scoped subquery": "MATCH (r:Run) CALL (r) { DETACH DELETE r } RETURN 1 AS one",
    "own transactions": "MATCH (r:Run) CALL (r) { DETACH DELETE r } IN TRANSACTIONS OF 1 ROWS",
    "write in count": "RETURN COUNT { CREATE (r:Run) } AS runs",
    "create index": "CREATE INDEX mine FOR (r:Run) ON (r.name)",
    "drop constraint": "DROP CONSTRAINT xlagraph_Run_key",
    "drop table": "DROP TABLE Run",
    "create table": "CREATE NODE TABLE Mine(key STRING, PRIMARY KEY(key))",
    "alter table": "ALTER TABLE Run ADD mine STRING",
    "begin": "BEGIN TRANSACTION",
    "commit": "COMMIT",
}
REACHES_OUT = {
    "checkpoint": "CHECKPOINT",
    "explained checkpoint": "EXPLAIN CHECKPOINT",
    "profiled checkpoint": "/* x */ PROFILE CHECKPOINT;",
    "export": "EXPORT DATABASE '{folder}/export'",
    "import": "IMPORT DATABASE '{folder}'",
    "copy to": "COPY (MATCH (r:Run) RETURN r.name) TO '{folder}/out.csv'",
    "profiled copy to": "PROFILE COPY (MATCH (r:Run) RETURN r.name) TO '{folder}/out.csv'",
    "copy from": "COPY Run FROM '{folder}/secret.csv'",
    "load from": "LOAD FROM '{folder}/secret.csv' RETURN *",
    "load from after match": "MATCH (r:Run) LOAD FROM '{folder}/secret.csv' RETURN *",
    "load from at a number": "MATCH (r:Run) WHERE 1 = 1LOAD FROM '{folder}/secret.csv' RETURN *",
    "load from at a long number": (
        "MATCH (r:Run) WHERE 1 < 1e5LOAD FROM '{folder}/secret.csv' RETURN *"
    ),
    "load from at a fraction": (
        "MATCH (r:Run) WHERE 1 < 2.5LOAD FROM '{folder}/secret.csv' RETURN *"
    ),
    "load from at a parameter": (
        "MATCH (r:Run) WHERE 1 = $1LOAD FROM '{folder}/secret.csv' RETURN *"
    ),
    "load from in a union": (
        "RETURN '1' AS one UNION ALL LOAD FROM '{folder}/secret.csv' RETURN column0 AS one"
    ),
    "load from after a wide space": (
        "MATCH (r:Run)\u00a0LOAD\u2003FROM '{folder}/secret.csv' RETURN *"
    ),
    "load csv": "LOAD CSV FROM 'file:///{folder}/secret.csv' AS line RETURN line",
    "load csv after match": (
        "MATCH (r:Run) LOAD CSV FROM 'file:///{folder}/secret.csv' AS line RETURN line"
    ),
    "load csv from the network": (
        "UNWIND [1] AS x LOAD CSV FROM 'http://127.0.0.1:1/secret.csv' AS line RETURN line"
    ),
    "load csv in a subquery": (
        "RETURN COLLECT {{ LOAD CSV FROM 'file:///{folder}/secret.csv' AS l RETURN l }} AS lines"
    ),
    "load csv behind a comment that a carriage return ends": (
        "RETURN ['1'] AS l //\rUNION LOAD CSV FROM 'file:///{folder}/secret.csv' AS l RETURN l"
    ),
    "load csv in escapes": (
        "MATCH (r:Run) \\u004cOAD CSV FROM 'file:///{folder}/secret.csv' AS line RETURN line"
    ),
    "load csv behind an escaped end of a string": (
        "RETURN ['\\u0027] AS l UNION LOAD CSV FROM 'file:///{folder}/secret.csv' AS l RETURN l //'"
    ),
    "load csv between quotes that do not close": (
        "RETURN [`] AS l UNION LOAD CSV FROM 'file:///{folder}/secret.csv' AS l RETURN l //"
    ),
    "install": "INSTALL httpfs",
    "load extension": "LOAD EXTENSION httpfs",
    "attach": "ATTACH '{folder}/other.lbug' AS other",
    "detach": "DETACH other",
    "use": "USE system",
    "call": "CALL show_tables() RETURN *",
    "setting": "CALL threads = 1",
    "call at a number": "MATCH (r:Run) WHERE 1 = 1CALL show_tables() RETURN *",
    "call in a row": "MATCH (r:Run) CALL current_setting('threads') RETURN *",
    "procedure of a plugin": (
        "CALL apoc.load.json('file://{folder}/secret.csv') YIELD value RETURN value"
    ),
    "list configuration": "CALL dbms.listConfig() YIELD name RETURN name",
    "quoted procedure": "CALL `dbms`.`listConfig`() YIELD name RETURN name",
    "procedure after match": (
        "MATCH (r:Run) CALL dbms.killConnections(['x']) YIELD username RETURN username"
    ),
    "new label": "CALL db.createLabel('Mine')",
    "show settings": "SHOW SETTINGS",
    "show users": "SHOW USERS",
    "end a transaction": "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
    "other database": "USE system MATCH (n) RETURN n",
    "macro": "CREATE MACRO mine(a) AS a + 1",
    "sequence": "RETURN nextval('mine') AS next",
    "two statements": "RETURN 1 AS one; RETURN 2 AS two",
    "two statements and a checkpoint": "RETURN 1 AS one; CHECKPOINT",
    "a second one after comments": "RETURN 1 AS one; // over\n/* now */ CHECKPOINT;",
    "a second one after a wide space": "RETURN 1 AS one\u00a0;\u00a0CHECKPOINT",
    "a second one behind a carriage return": "RETURN 1 AS one //\r; CHECKPOINT",
    "only a comment": "// nothing",
    "nothing": "",
    "explain of nothing": "EXPLAIN",
}
DEEP = {
    "lists": "RETURN " + "[" * 1000 + "1" + "]" * 1000 + " AS x",
    "maps": "RETURN " + "{a: " * 1000 + "1" + "}" * 1000 + " AS x",
    "functions": "RETURN " + "abs(" * 1000 + "1" + ")" * 1000 + " AS x",
    "cases": "RETURN " + "CASE WHEN true THEN " * 1000 + "1" + " END" * 1000 + " AS x",
    "cases that a variable seems to end": (
        "WITH true AS end RETURN " + "CASE WHEN end THEN " * 1000 + "1" + " END" * 1000 + " AS x"
    ),
    "parentheses": "RETURN " + "(" * 2500 + "1" + ")" * 2500 + " AS x",
    "subqueries": (
        "MATCH (a) WHERE "
        + "EXISTS { MATCH (a) WHERE " * 500
        + "true"
        + "}" * 500
        + " RETURN 1 AS x"
    ),
    "brackets that do not match": "RETURN " + "(]" * 1000,
    "a sum": "RETURN " + "+".join("1" * 20_000) + " AS x",
    "a conjunction": "RETURN " + " AND ".join(["true"] * 12_000) + " AS x",
    "negations": "RETURN " + "NOT " * 16_000 + "true AS x",
    "elements of elements": "RETURN [1]" + "[0]" * 16_000 + " AS x",
    "properties of properties": "RETURN {a: 1}" + ".a" * 16_000 + " AS x",
    "a long text": "RETURN '" + "x" * 200_000 + "' AS x",
}
UNKNOWN_TO_AN_ENGINE = {"remove", "foreach", "write in count", "sequence"}
"""Statements that fail on an engine that lacks them, and are rejected on the other."""
READS = {
    "names in quotes": "RETURN 'LOAD CSV' AS `CALL`",
    "comments around a semicolon": "UNWIND [1, 2] AS number RETURN number /* CALL */ ;",
    "a comment first": "// LOAD a thing\nRETURN 1 AS one",
    "an optional match": "OPTIONAL MATCH (o:Op {key: 'none'}) RETURN o.key AS `load`",
    "names in comments": "/* CALL x() */ RETURN 1 AS one // LOAD",
    "a semicolon at the end": "RETURN 1 AS one; // over",
    "a semicolon in a string": "RETURN ';CREATE (:Run)' AS text",
    "a quote in a string": "RETURN 'it\\'s' AS text, \"a \\\" b\" AS other",
    "windows lines": "MATCH (r:Run) // runs\r\nRETURN r.name AS name\r\n",
    "a number": "MATCH (r:Run) WHERE 1 = 1 RETURN 1.5 AS half",
    "a long list": "RETURN size([" + ",".join("1" * 20_000) + "]) AS size",
    "some brackets": "RETURN " + "(" * 20 + "1" + ")" * 20 + " AS one",
    "brackets in a string": "RETURN '" + "[" * 1000 + "' AS text",
    "several cases": "RETURN "
    + ", ".join(f"CASE WHEN true THEN {n} END AS c{n}" for n in range(90)),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.csv").write_text("secret\n")
    return tmp_path


@pytest.fixture
def filled(graph_of: GraphOf) -> Graph:
    return graph_of(ingest_two_runs)


def test_a_statement_that_would_write_or_reach_out_is_refused(filled: Graph, folder: Path):
    before, files = all_rows(filled), sorted(folder.rglob("*"))
    let_through: list[tuple[str, object]] = []
    unknown: set[str] = set()
    for name, text in {**WRITES, **REACHES_OUT}.items():
        text = text.format(folder=folder) if "{folder}" in text else text
        try:
            let_through.append((name, filled.query(text, {"1": 1, "1LOAD": 1}).rows))
        except QueryRefused:
            continue
        except QueryFailed as failed:
            # the engine rejects the syntax; it has not accessed the path
            unknown.add(name)
            if "xternal resource" in str(failed) or "IO exception" in str(failed):
                let_through.append((name, failed))
    assert let_through == []
    assert unknown <= UNKNOWN_TO_AN_ENGINE
    assert all_rows(filled) == before
    assert sorted(folder.rglob("*")) == files


@pytest.mark.parametrize("text", READS.values(), ids=READS.keys())
def test_a_statement_that_only_looks_dangerous_is_allowed(filled: Graph, text: str):
    assert filled.query(text).rows


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_a_statement_that_would_overflow_the_stack_is_refused(filled: Graph, text: str):
    with pytest.raises(QueryRefused, match=r"expected (at most|a statement of at most)"):
        filled.query(text)
    with pytest.raises(QueryRefused, match=r"expected (at most|a statement of at most)"):
        run_statement(filled, text)


def test_parameters_that_are_nested_too_deep_are_refused(filled: Graph):
    nested: list[object] = [1]
    for _ in range(900):
        nested = [nested]
    for value in (nested, [{"a": nested}]):
        with pytest.raises(QueryFailed, match=r"\$x holds more than 64 nested lists and maps"):
            filled.query("RETURN $x AS x", {"x": value})  # type: ignore[dict-item]


def test_an_answer_can_be_limited_in_bytes(filled: Graph):
    text = "UNWIND range(1, 100) AS n RETURN n AS n2, range(1, 1000) AS numbers"
    assert len(filled.query(text, max_bytes=1_000_000).rows) == 100
    with pytest.raises(QueryFailed, match=r"the answer has more than 97\.7 KiB"):
        filled.query(text, max_bytes=100_000)
