"""The API gives what the commands print, and refuses what it cannot mean with a message."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from tests.queries.suitable_parameters import OF_TINY_DUMPS, suitable_parameters
from tests.tiny_dumps import dump, write_dump, write_runs
from xlagraph.cli import main
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import load_catalogue
from xlagraph.serve import create_app

CATALOGUE = load_catalogue()


def asked(query):
    """Return what has no default, and the compilation: the largest has no value `t`."""
    suitable = suitable_parameters(query)
    return {
        parameter.name: suitable[parameter.name]
        for parameter in query.parameters
        if parameter.required or parameter.name == "compilation"
    }


@pytest.mark.parametrize("query_id", CATALOGUE)
def test_every_canned_query_answers_as_its_command_does(client, served_graph, capsys, query_id):
    parameters = asked(CATALOGUE[query_id])
    response = client.get(f"/api/query/{query_id}", params=parameters)
    assert response.status_code == 200, response.text
    options = [
        f"--{parameter.option}={parameters[parameter.name]}"
        for parameter in CATALOGUE[query_id].parameters
        if parameter.name in parameters
    ]
    arguments = ["query", query_id, *options, "--graph", str(served_graph), "--format", "json"]
    capsys.readouterr()
    assert main(arguments) == 0
    assert response.json() == json.loads(capsys.readouterr().out)


def test_the_catalogue_names_parameters_with_types_and_defaults(client):
    listed = {query["id"]: query for query in client.get("/api/queries").json()}
    assert listed.keys() == CATALOGUE.keys()
    compilation, *_, limit = listed["peak/contributors"]["parameters"]
    assert (compilation["name"], compilation["required"]) == ("compilation", False)
    assert {"name": "limit", "type": "INTEGER", "default": 20}.items() <= limit.items()


def test_the_description_has_a_path_for_every_query(client):
    described = client.get("/api").json()
    assert described["openapi"].startswith("3.1")
    assert {f"/api/query/{name}" for name in CATALOGUE} <= described["paths"].keys()
    for path, operations in described["paths"].items():
        if "{" not in path and "get" in operations:
            given = {
                parameter["name"]: OF_TINY_DUMPS.get(parameter["name"], "before")
                for parameter in operations["get"].get("parameters", ())
                if parameter["required"] or parameter["name"] == "compilation"
            }
            assert client.get(path, params=given).status_code == 200, path


def test_notes_stand_in_a_header(client):
    asked = {"compilation": "before/module_0001", "limit": 1}
    response = client.get("/api/query/peak/contributors", params=asked)
    notes = json.loads(response.headers["X-Xlagraph-Notes"])
    assert any("at most 1 rows are shown" in note for note in notes)


def test_runs_and_compilations_are_listed(client):
    assert [row["run"] for row in client.get("/api/runs").json()] == ["after", "before", "padded"]
    rows = client.get("/api/compilations", params={"run": "before"}).json()
    assert [row["reservedBytes"] for row in rows] == [384, 256]


def test_two_runs_are_compared_as_the_command_does(client):
    rows = client.get("/api/compare", params={"a": "before", "b": "after"}).json()
    totals = {row["name"]: row for row in rows if row["part"] == "total"}
    assert (totals["reserved"]["bytesA"], totals["reserved"]["bytesB"]) == (640, 832)


def test_a_compilation_is_advised_and_a_value_told(client):
    (finding,) = client.get("/api/advise/padded/f").json()
    assert (finding["finding"], finding["bytes"]) == ("Padding fills the peak", 8176)
    assert finding["evidence"][0]["value"] == "a"
    details = client.get("/api/value/before/module_0001", params={"value": "t"}).json()
    assert details["value"] == "t"
    assert details["life"]["liveFrom"] == 1


def test_a_statement_of_ones_own_reads_with_parameters(client):
    statement = {
        "statement": "MATCH (r:Run {name: $name}) RETURN r.name AS name",
        "parameters": {"name": "before"},
    }
    assert client.post("/api/cypher", json=statement).json() == [{"name": "before"}]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"statement": "CREATE (:Run {key: 'x'})"}, "does not read the graph"),
        ({"statement": "MATCH (n) RETURN"}, "mismatched input"),
        ({"statement": "RETURN 1 AS one; RETURN 2 AS two"}, "one statement"),
        ({"statement": 1}, "expected"),
        ({"statement": "RETURN $x AS x"}, "no value is given for $x"),
        ({"statement": "RETURN 1 AS one", "parameters": [1]}, "object of parameters"),
        ({"statement": "RETURN 1 AS one", "more": 1}, "found more"),
        ([], "expected"),
        ({"statement": "UNWIND range(1, 200000) AS n RETURN n AS n2"}, "more than 100,000 rows"),
    ],
)
def test_a_statement_that_does_more_than_read_is_refused(client, body, message):
    response = client.post("/api/cypher", json=body)
    assert response.status_code == 400
    assert message in response.json()["error"]


def test_an_empty_array_of_parameters_is_none(client):
    body = {"statement": "RETURN 1 AS one", "parameters": []}
    assert client.post("/api/cypher", json=body).json() == [{"one": 1}]


def test_a_name_that_the_schema_lacks_is_named_with_what_is_near(client):
    def answer(statement):
        return client.post("/api/cypher", json={"statement": statement})

    refused = answer("MATCH (v:Values) RETURN v.sizeByte AS size")
    assert refused.status_code == 400
    assert "no label Values" in refused.json()["error"]
    assert "Value?" in refused.json()["error"]
    mapped = answer("WITH {sizeBytes: 1} AS v RETURN v.sizeBytes AS size")
    assert mapped.json() == [{"size": 1}]


def test_a_statement_comes_as_json_alone(client):
    text = '{"statement": "RETURN 1 AS one"}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        response = client.post("/api/cypher", content=text, headers={"content-type": kind})
        assert response.status_code == 400
    json_type = {"content-type": "application/json; charset=utf-8"}
    assert client.post("/api/cypher", content=text, headers=json_type).json() == [{"one": 1}]
    for odd in (b"", b"{", b"\xff", b"[" * 100_000):
        assert client.post("/api/cypher", content=odd, headers=json_type).status_code == 400


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("/api/query/peak/nothing", 404, "peak/nothing"),
        ("/api/query/peak/contributors?limit=many", 400, "limit is INTEGER"),
        ("/api/query/peak/contributors?colour=1", 400, "no parameter colour"),
        ("/api/query/peak/contributors?compilation=nowhere", 404, "nowhere"),
        ("/api/query/alias/chain", 400, "value"),
        ("/api/compare?a=before", 400, "expected ?b="),
        ("/api/value/before/module_0001", 400, "expected ?value="),
        ("/api/value/before/module_0001?value=nothing", 404, "nothing"),
        ("/api/advise/nowhere", 404, "nowhere"),
    ],
)
def test_a_request_that_cannot_be_answered_says_why(client, path, code, message):
    response = client.get(path)
    assert response.status_code == code
    assert message in response.json()["error"]


def test_ten_clients_at_once_get_their_own_answers(client):
    barrier = threading.Barrier(10)

    def ask(number):
        barrier.wait()
        statement = {"statement": f"UNWIND range(1, 50) AS n RETURN n + {number} AS sum"}
        return [row["sum"] for row in client.post("/api/cypher", json=statement).json()]

    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(ask, range(10)))
    assert answers == [[n + number for n in range(1, 51)] for number in range(10)]


def test_after_an_ingest_the_next_request_sees_the_new_graph(tmp_path):
    path = tmp_path / "graph.lbug"
    with open_graph(path, create=True) as graph:
        ingest(graph, write_runs(tmp_path / "runs"), jobs=1)
    with TestClient(create_app(path), base_url="http://127.0.0.1:8000") as client:
        assert len(client.get("/api/compilations").json()) == 4
        write_dump(tmp_path / "runs" / "later", 1, "jit_f", dump(1024))
        with open_graph(path, create=True, wait=False) as graph:  # nobody holds the file up
            ingest(graph, tmp_path / "runs", jobs=1)
        assert len(client.get("/api/compilations").json()) == 5
