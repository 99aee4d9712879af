"""The API returns the same as the commands, and rejects wrong requests with a message."""

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
from xlagraph.serve import Access, create_app

CATALOGUE = load_catalogue()


def asked(query):
    """Return the required parameters, and the compilation: the largest has no value `t`."""
    suitable = suitable_parameters(query)
    return {
        parameter.name: suitable[parameter.name]
        for parameter in query.parameters
        if parameter.required or parameter.name == "compilation"
    }


ONE_OF_EACH_FORM = {
    (query.kind, *((each.name, each.type) for each in query.parameters)): query.id
    for query in CATALOGUE.values()
}
"""A query of each list of parameters: they alone differ on the way to the runner."""


@pytest.mark.parametrize("query_id", ONE_OF_EACH_FORM.values())
def test_a_canned_query_answers_like_its_command(client, served_graph, capsys, query_id):
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


def test_notes_are_in_a_header(client):
    asked = {"compilation": "before/module_0001", "limit": 1}
    response = client.get("/api/query/peak/contributors", params=asked)
    notes = json.loads(response.headers["X-Xlagraph-Notes"])
    assert any("showing the first row" in note for note in notes)


def test_runs_and_compilations_are_listed(client):
    assert [row["run"] for row in client.get("/api/runs").json()] == ["after", "before", "padded"]
    rows = client.get("/api/compilations", params={"run": "before"}).json()
    assert [row["reservedBytes"] for row in rows] == [384, 256]


def test_two_runs_are_compared_like_by_the_command(client):
    rows = client.get("/api/compare", params={"a": "before", "b": "after"}).json()
    totals = {row["name"]: row for row in rows if row["part"] == "total"}
    assert (totals["reserved"]["bytesA"], totals["reserved"]["bytesB"]) == (640, 832)


def test_a_compilation_is_advised_and_a_value_is_described(client):
    (finding,) = client.get("/api/advise/padded/f").json()
    assert (finding["finding"], finding["bytes"]) == ("Padding fills the peak", 8176)
    assert finding["evidence"][0]["value"] == "a"
    details = client.get("/api/value/before/module_0001", params={"value": "t"}).json()
    assert details["value"] == "t"
    assert details["life"]["liveFrom"] == 1


def test_a_statement_of_the_user_reads_with_parameters(client):
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
        ({"statement": "RETURN $x AS x"}, "no value for $x"),
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


def test_a_name_outside_the_schema_is_reported_with_similar_names(client):
    def answer(statement):
        return client.post("/api/cypher", json={"statement": statement})

    refused = answer("MATCH (v:Values) RETURN v.sizeByte AS size")
    assert refused.status_code == 400
    assert "no label Values" in refused.json()["error"]
    assert "Value?" in refused.json()["error"]
    mapped = answer("WITH {sizeBytes: 1} AS v RETURN v.sizeBytes AS size")
    assert mapped.json() == [{"size": 1}]


def test_a_statement_is_accepted_as_json_only(client):
    text = '{"statement": "RETURN 1 AS one"}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        response = client.post("/api/cypher", content=text, headers={"content-type": kind})
        assert response.status_code == 415
    json_type = {"content-type": "application/json; charset=utf-8"}
    assert client.post("/api/cypher", content=text, headers=json_type).json() == [{"one": 1}]
    for odd in (b"", b"{", b"\xff", b"[" * 100_000):
        assert client.post("/api/cypher", content=odd, headers=json_type).status_code == 400


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("/api/query/peak/nothing", 404, "peak/nothing"),
        ("/api/query/peak/contributors?limit=many", 400, "expected INTEGER for limit"),
        ("/api/query/peak/contributors?colour=1", 400, "no parameter colour"),
        ("/api/query/peak/contributors?compilation=nowhere", 404, "nowhere"),
        ("/api/query/alias/chain", 400, "value"),
        ("/api/compare?a=before", 400, "expected ?b="),
        ("/api/value/before/module_0001", 400, "expected ?value="),
        ("/api/value/before/module_0001?value=nothing", 404, "nothing"),
        ("/api/advise/nowhere", 404, "nowhere"),
        ("/api/runs?limit=1", 400, "no parameter limit; expected none"),
        ("/api/compilations?run=before&run=after", 400, "expected run once"),
        ("/api?x=1", 400, "no parameter x"),
        ("/healthz?x=1", 400, "no parameter x"),
        ("/api/nothing", 404, "/api lists the addresses"),
        ("/api/runs/", 404, "/api lists the addresses"),
        ("/api/query/peak/contributors?compilation=%ED%A0%80", 404, "no compilation"),
        ("/api/query/peak/contributors?limit=99999999999999999999", 400, "64 bits"),
    ],
)
def test_a_request_that_cannot_be_answered_gets_a_reason(client, path, code, message):
    response = client.get(path)
    assert response.status_code == code
    assert message in response.json()["error"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ('{"x": ' + "[" * 900 + "]" * 900 + "}", "more than 64 nested lists and maps"),
        ('{"x": ' + '{"a": ' * 900 + "1" + "}" * 901, "more than 64 nested lists and maps"),
        ('{"x": "\\ud800"}', "not UTF-8"),
        ('{"x": [{"\\ud800": 1}]}', "not UTF-8"),
        ('{"x": 1e999, "y": 123456789012345678901234567890}', "no value for"),
        ("[" * 5000 + "]" * 5000, "expected JSON"),
    ],
)
def test_wrong_parameters_are_refused_with_a_message(client, parameters, message):
    name = "z" if "1e999" in parameters else "x"
    body = f'{{"statement": "RETURN ${name} AS x", "parameters": {parameters}}}'
    headers = {"content-type": "application/json"}
    response = client.post("/api/cypher", content=body.encode(), headers=headers)
    assert response.status_code == 400
    assert message in response.json()["error"]


def test_a_refusal_may_quote_text_that_is_not_utf_8(client):
    headers = {"content-type": "application/json"}
    for body in (b'{"statement": "RETURN 1 \\ud800"}', b'{"statement": "", "\\ud800": 1}'):
        response = client.post("/api/cypher", content=body, headers=headers)
        assert response.status_code == 400
        assert response.json()["error"]


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/runs", "GET, HEAD, OPTIONS"),
        ("/api/cypher", "OPTIONS, POST"),
        ("/", "GET, HEAD, OPTIONS"),
    ],
)
def test_options_lists_the_allowed_methods(client, path, allowed):
    listed = client.options(path)
    assert (listed.status_code, listed.headers["allow"]) == (204, allowed)
    for method in ("PUT", "DELETE", "PATCH", "TRACE"):
        refused = client.request(method, path)
        assert (refused.status_code, refused.headers["allow"]) == (405, allowed)
    for method in allowed.split(", "):
        assert client.request(method, path).status_code != 405


def test_unchanged_content_is_not_sent_again(client):
    for path in ("/api", "/api/queries", "/api/runs", "/api/query/peak/contributors?limit=1"):
        first = client.get(path)
        again = client.get(path, headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert client.get(path, headers={"if-none-match": 'W/"other"'}).status_code == 200


def test_answers_are_compressed_if_the_client_accepts_it(client):
    for path in ("/api/queries", "/api", "/"):
        packed = client.get(path, headers={"accept-encoding": "gzip"})
        plain = client.get(path, headers={"accept-encoding": "identity"})
        assert packed.headers["content-encoding"] == "gzip"
        assert "content-encoding" not in plain.headers
        assert packed.content == plain.content


def test_it_is_ready_while_the_graph_can_be_read(client, tmp_path):
    assert client.get("/readyz").json() == {"status": "ready"}
    path = tmp_path / "graph.lbug"
    with open_graph(path, create=True) as graph:
        ingest(graph, write_runs(tmp_path / "runs"), jobs=1)
    with TestClient(create_app(path), base_url="http://127.0.0.1:8000") as client:
        assert client.get("/readyz").status_code == 200
        path.unlink()
        refused = client.get("/readyz")
        assert refused.status_code == 503
        assert "no graph at" in refused.json()["error"]
        assert client.get("/healthz").status_code == 200


def test_metrics_count_requests_and_require_the_token(served_graph):
    access = Access(frozenset({"gpu-box"}), "open-sesame-open")
    with TestClient(create_app(served_graph, access=access), base_url="http://gpu-box") as client:
        assert client.get("/metrics").status_code == 401
        bearer = {"authorization": "Bearer open-sesame-open"}
        client.get("/api/runs", headers=bearer)
        client.get("/api/nothing", headers=bearer)
        text = client.get("/metrics", headers=bearer).text
    assert 'xlagraph_requests_total{method="GET",route="/api/runs",status="200"} 1.0' in text
    assert 'xlagraph_requests_total{method="GET",route="other",status="404"} 1.0' in text
    assert 'xlagraph_reads_waiting{lane="statements"} 0.0' in text


def test_ten_clients_at_once_get_their_answers(client):
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
        before = client.get("/api/compilations")
        assert len(before.json()) == 4
        write_dump(tmp_path / "runs" / "later", 1, "jit_f", dump(1024))
        with open_graph(path, create=True, wait=False) as graph:  # no process has the file open
            ingest(graph, tmp_path / "runs", jobs=1)
        unless = {"if-none-match": before.headers["etag"]}
        assert len(client.get("/api/compilations", headers=unless).json()) == 5
