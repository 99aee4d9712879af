"""Maps in statements and parameters of users: right rows or a rejection, on both engines."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.graph.test_queries_of_users import write_made_rows
from tests.graph_fixtures import GraphOf
from xlagraph.graph import Graph, GraphError, QueryFailed, QueryRefused
from xlagraph.graph.ladybug.list_kinds import check_lists
from xlagraph.graph.ladybug.map_order import with_ordered_maps


@pytest.fixture
def loaded(graph_of: GraphOf) -> Graph:
    return graph_of(write_made_rows)


KEYS = st.sampled_from(["a", "b", "name", "Z"])
MAPS = st.recursive(
    st.integers(-1000, 1000),
    lambda inner: st.dictionaries(KEYS, inner, min_size=1, max_size=3),
    max_leaves=6,
).filter(lambda value: isinstance(value, dict))


def literal(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {literal(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return str(value)


@st.composite
def similar_maps(draw):
    """Draw maps that have the keys of the first in any order, and at times other keys."""
    first = draw(MAPS)

    def shuffled(value):
        if not isinstance(value, dict):
            return draw(st.integers(-1000, 1000))
        names = draw(st.permutations(list(value)))
        return {name: shuffled(value[name]) for name in names}

    maps = [first, *(shuffled(first) for _ in range(draw(st.integers(0, 3))))]
    if draw(st.booleans()):
        maps.append(draw(MAPS))
    return maps


@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(maps=similar_maps())
def test_generated_maps_are_returned_as_they_are_or_refused(loaded, maps):
    written = f"UNWIND {literal(maps)} AS row RETURN row, row.a AS a, row.b AS b"
    of_parameter = "UNWIND $maps AS row RETURN row, row.a AS a, row.b AS b"
    if any(set(row) < {"a", "b"} for row in maps):  # the embedded engine knows no missing key
        written = f"UNWIND {literal(maps)} AS row RETURN row, 1 AS a, 1 AS b"
        of_parameter = "UNWIND $maps AS row RETURN row, 1 AS a, 1 AS b"
    is_same = len({shape(row) for row in maps}) == 1
    for text, parameters in ((written, {}), (of_parameter, {"maps": maps})):
        try:
            found = [row["row"] for row in loaded.query(text, parameters)]
        except GraphError:
            if "RETURN row, 1" in text:
                assert not is_same or "neo4j server" in loaded.versions
            continue
        assert found == maps


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=VALUES)
def test_generated_parameters_are_returned_as_they_are_or_refused(loaded, value):
    try:
        found = loaded.query("RETURN $value AS value, [$value] AS listed", {"value": value}).rows
    except GraphError:
        assert isinstance(value, list | dict)
        assert "neo4j server" not in loaded.versions
    else:
        assert found == ((value, [value]),)


@pytest.mark.parametrize(
    "value",
    [
        [False, ""],
        [1, True],
        [0.5, 2**53 + 1],
        [[1], None],
        [[1], ["a"]],
        {"a": [{"b": 1}, {"b": "x"}]},
    ],
)
def test_lists_that_the_embedded_engine_would_convert_are_refused(value):
    with pytest.raises(QueryRefused, match=r"a list in \$rows has values of several kinds"):
        check_lists({"rows": value})


@pytest.mark.parametrize(
    "value", [[1, 0.5, None], [1, 2**53 + 1], [[], [1]], [{"a": None}, {"a": 1}]]
)
def test_lists_of_one_kind_may_contain_null_and_empty_lists(value):
    check_lists({"rows": value})


def shape(value: object) -> object:
    return (
        tuple(sorted((name, shape(part)) for name, part in value.items()))
        if isinstance(value, dict)
        else None
    )


def test_keys_of_a_list_of_maps_may_be_in_any_order(loaded):
    text = "UNWIND {} AS r RETURN r.a AS a, r.b AS b"
    rows = [{"a": 1, "b": 2}, {"b": 30, "a": 40}]
    assert loaded.query(text.format(literal(rows))).rows == ((1, 2), (40, 30))
    assert loaded.query(text.format("$rows"), {"rows": rows}).rows == ((1, 2), (40, 30))


def test_maps_are_equal_in_any_order_of_their_keys(loaded):
    text = "RETURN {a: 1, b: 2} = {b: 2, a: 1} AS same, {b: 2, a: 1} IN [{a: 1, b: 2}] AS held"
    assert loaded.query(text).rows == ((True, True),)


def test_maps_of_separate_columns_may_have_different_keys(loaded):
    assert loaded.query("RETURN {a: 1} AS x, collect({b: 2}) AS y").rows == (
        ({"a": 1}, [{"b": 2}]),
    )


@pytest.mark.parametrize(
    "text",
    [
        "UNWIND [{a: 1}, {b: 2}] AS x RETURN x",
        "RETURN {a: 1} AS x UNION RETURN {b: 2} AS x",
        "WITH {a: 1} AS x, {b: 2} AS y RETURN [x, y] AS z",
        "RETURN CASE WHEN true THEN {a: 1} ELSE {b: 2} END AS x",
        "UNWIND [{a: {x: 1}}, {a: {y: 2}}] AS x RETURN x",
        "RETURN {a: 1, A: 2} AS x",
    ],
)
def test_maps_that_the_embedded_engine_would_mix_up_are_refused(text):
    with pytest.raises(QueryRefused, match=r"the same keys, with null|differ only in case"):
        with_ordered_maps(text, {})


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (v:Value {key: $key, valueId: 1}) WHERE EXISTS { MATCH (v {name: 'a'}) } RETURN v",
        "MATCH (a {key: 1})-[r:HOLDS {b: 1}]->(`c d` {z: 1}) RETURN {a: 1, b: {c: 2}} AS m // {b:",
        "RETURN [{b: 1, a",
    ],
)
def test_patterns_and_ordered_maps_stay_as_they_are(text):
    assert with_ordered_maps(text, {}) == (text, {})


def test_a_comment_moves_with_its_entry():
    text = "RETURN {b: 1, // } second\n a: ',}'} AS m"
    assert with_ordered_maps(text, {})[0] == "RETURN { // } second\n a: ',}',b: 1} AS m"


def test_columns_of_one_name_are_refused(loaded):
    with pytest.raises(QueryFailed, match=r"[Ss]ame name|several columns are called a"):
        loaded.query("RETURN 1 AS a, 2 AS a")


@pytest.mark.parametrize(
    "text", ["date('12000-01-01')", "[date('0000-06-01')]", "{a: date('12000-01-01')}"]
)
def test_a_date_that_python_has_not_is_a_sentence(loaded, text):
    with pytest.raises(QueryFailed, match=r"years 1 to 9999|Text cannot be parsed"):
        loaded.query(f"RETURN {text} AS day")
