"""Users' statements: which are allowed, and their results and errors."""

import decimal
from pathlib import Path

import pytest

from tests.graph.made_rows import made_rows
from tests.graph_fixtures import GraphOf
from xlagraph.graph import Graph, GraphError, QueryFailed, QueryRefused
from xlagraph.graph.read_only import read_statement


def write_made_rows(graph: Graph, _: Path) -> None:
    with graph.load() as load:
        load.write(made_rows())


@pytest.fixture
def loaded(graph_of: GraphOf) -> Graph:
    return graph_of(write_made_rows)


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("CALL db.labels YIELD label RETURN label", ("db.labels",)),
        ("CALL db . labels() YIELD label", ("db.labels(",)),
        (
            "CALL db.labels CALL dbms.listConfig() YIELD name RETURN name",
            ("db.labels", "dbms.listConfig("),
        ),
        ("CALL (v) { RETURN 1 AS one }", ("(",)),
    ],
)
def test_the_name_of_a_procedure_ends_with_its_last_part(text, called):
    assert read_statement(text).calls == called


def test_a_missing_parameter_is_named(loaded):
    with pytest.raises(QueryFailed, match=r"\$name"):
        loaded.query("MATCH (o:Op {key: $name}) RETURN o.key AS key", {"other": 1})


@pytest.mark.parametrize("value", [2**63, [1, 2**64], {"a": [-(2**63) - 1]}])
def test_a_number_beyond_64_bits_is_named(loaded, value):
    with pytest.raises(QueryFailed, match=r"^\$big contains a number of more than 64 bits$"):
        loaded.query("RETURN $big AS big", {"big": value})


def test_text_that_is_not_utf_8_is_refused(loaded):
    with pytest.raises(QueryRefused, match="the statement is not UTF-8"):
        loaded.query("RETURN '\udcff' AS text")
    with pytest.raises(QueryFailed, match=r"\$text contains text that is not UTF-8"):
        loaded.query("RETURN $text AS text", {"text": ["\udcff"]})


def test_an_untyped_list_is_returned_or_refused_with_a_message(loaded):
    for value in ([], [1, "a"], [{"a": 1}, {"a": "b"}]):
        given = {"list": value}
        if "ladybug" in loaded.versions:  # has typed lists only
            with pytest.raises(
                GraphError, match=r"does not fit: .*; the values of a|several kinds"
            ):
                loaded.query("RETURN $list AS list", given)
        else:
            assert loaded.query("RETURN $list AS list", given).rows == ((value,),)


def test_a_parameter_in_a_string_or_comment_is_ignored(loaded):
    assert loaded.query("RETURN '$name' AS text // $other").rows == (("$name",),)


def test_parameters_that_the_statement_does_not_name_are_skipped(loaded):
    assert loaded.query("RETURN $a AS a", {"a": 1, "b": 2}).rows == ((1,),)


def test_a_wrong_statement_is_reported_with_the_engines_message(loaded):
    with pytest.raises(QueryFailed, match="RETRUN"):
        loaded.query("MATCH (o:Op) RETRUN o")


def test_a_statement_that_takes_too_long_is_ended(loaded):
    text = (
        "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b "
        "WITH a, b WHERE (a * b) % 7 = 3 RETURN count(*) AS n"
    )
    with pytest.raises(QueryFailed, match=r"longer than 0\.2 s"):
        loaded.query(text, timeout_seconds=0.2)
    assert loaded.query("RETURN 1 AS one").rows == ((1,),)


def test_nodes_relationships_and_paths_are_mappings_of_properties(loaded):
    result = loaded.query(
        "MATCH p = (a:Allocation)-[h:HOLDS]->(v:Value {valueId: 0}) "
        "RETURN a AS node, h AS edge, nodes(p) AS line"
    )
    row = result.mappings()[0]
    assert row["node"] == {
        "key": "baseline/module_0001.jit_step#a/0",
        "compilation": "baseline/module_0001.jit_step",
        "number": 0,
        "sizeBytes": 256,
        "role": "temp",
        "maybeLiveOut": False,
    }
    assert row["edge"] == {"offsetBytes": 0, "sizeBytes": 64}
    assert [node["key"] for node in row["line"]] == [
        "baseline/module_0001.jit_step#a/0",
        "baseline/module_0001.jit_step#v/0",
    ]


def test_sums_are_integers(loaded):
    result = loaded.query(
        "MATCH (v:Value) WITH sum(v.sizeBytes) AS total "
        "RETURN total, [total] AS totals, {a: total} AS named"
    )
    assert result.rows == ((256, [256], {"a": 256}),)
    assert not any(isinstance(cell, decimal.Decimal) for cell in result.rows[0])
    assert type(result.rows[0][0]) is int


def test_a_few_rows_and_many_read_the_same(loaded):
    text = (
        "UNWIND $numbers AS number RETURN number, number / 2.0 AS half, 'é' AS text, "
        "number > 2 AS isLarge, CASE WHEN number > 1 THEN number END AS second ORDER BY number"
    )
    few, many = (
        loaded.query(text, {"numbers": list(range(1, last + 1))}).rows for last in (3, 7000)
    )
    assert few == ((1, 0.5, "é", False, None), (2, 1.0, "é", False, 2), (3, 1.5, "é", True, 3))
    assert many[:3] == few
    assert len(many) == 7000


def test_rows_become_frames(loaded):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    result = loaded.query(
        "MATCH (v:Value) RETURN v.valueId AS id, v.opName AS op ORDER BY id LIMIT 2"
    )
    expected: dict[str, list[object]] = {"id": [0, 1], "op": [None, "jit(step)/layer_0/dot"]}
    assert polars.DataFrame.equals(result.to_polars(), polars.DataFrame(expected))
    frame = result.to_pandas()
    assert frame["id"].tolist() == expected["id"]
    assert frame["op"].tolist()[1] == expected["op"][1]
    assert isinstance(frame, pandas.DataFrame)
