"""Requests of an attacker, through a browser on the same machine or from another one."""

import base64

import pytest
from starlette.testclient import TestClient

from xlagraph.serve import Access, create_app

ADDRESS = "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost."]
)
def test_a_foreign_name_that_resolves_to_this_machine_is_refused(client, host):
    assert client.get("/api/runs", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "host",
    [
        "",
        "127.0.0.1:8000:8000",
        "127.0.0.1:x",
        "127.0.0.1:",
        "me@127.0.0.1",
        "127.0.0.1/evil",
        "127.0.0.1, evil.example",
        "[::1",
        "[::1]evil.example",
        "[127.0.0.1]x",
    ],
)
def test_an_invalid_host_is_refused(client, host):
    assert client.get("/api/runs", headers={"host": host}).status_code == 400


def test_two_hosts_are_refused(client):
    headers = [("host", "127.0.0.1"), ("host", "evil.example")]
    assert client.get("/api/runs", headers=headers).status_code == 400


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000"])
def test_this_machine_has_several_names(client, host):
    assert client.get("/healthz", headers={"host": host}).status_code == 200


def test_host_names_are_case_insensitive(served_graph):
    access = Access(frozenset({"MyBox"}))
    with TestClient(create_app(served_graph, access=access), base_url="http://mybox") as client:
        for host in ("mybox", "MyBox:8000"):
            assert client.get("/healthz", headers={"host": host}).status_code == 200


def test_a_token_is_required_if_other_machines_can_connect():
    with pytest.raises(ValueError, match="requires a token"):
        Access(hosts=None)
    for address in ("0.0.0.0", "gpu-box"):
        with pytest.raises(ValueError, match="token"):
            Access.on_address(address, None)


@pytest.mark.parametrize(
    ("address", "names"),
    [("0.0.0.0", None), ("::", None), ("gpu-box", {"gpu-box"}), ("10.1.2.3", {"10.1.2.3"})],
)
def test_a_service_is_called_by_its_address_or_on_all_addresses_by_any_name(address, names):
    assert Access.on_address(address, "sesame-open-the-door").hosts == names


def test_the_name_of_a_proxy_requires_a_token():
    with pytest.raises(ValueError, match="token"):
        Access.on_address("127.0.0.1", None, ("graphs.example",))
    access = Access.on_address("127.0.0.1", "sesame-open-the-door", ("graphs.example",))
    assert access.allows_name("graphs.example")
    assert access.allows_name("127.0.0.1")
    assert not access.allows_name("evil.example")


def test_an_address_may_end_in_a_slash_before_a_path(client):
    assert client.get(f"{ADDRESS}//healthz").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_page_may_not_send_requests(client, headers):
    assert client.get("/api/runs", headers=headers).status_code == 403


def test_its_page_may_send_requests(client):
    own = {"origin": ADDRESS, "sec-fetch-site": "same-origin"}
    assert client.get("/api/runs", headers=own).status_code == 200


def test_a_link_of_another_site_opens(client):
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    document = {**link, "sec-fetch-dest": "document"}
    for path in ("/", "/view/before/", "/api/runs"):
        assert client.get(path, headers=document).status_code == 200
    assert client.get("/", headers={**link, "sec-fetch-dest": "iframe"}).status_code == 403
    assert client.get("/", headers={**document, "sec-fetch-mode": "cors"}).status_code == 403
    statement = {"statement": "RETURN 1 AS one"}
    assert client.post("/api/cypher", json=statement, headers=document).status_code == 403


def test_every_answer_forbids_scripts_from_data_and_frames(client):
    for path in ("/healthz", "/api/runs", "/nothing"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe-inline" not in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_a_preflight_of_another_page_is_refused(client):
    headers = {"origin": "http://evil.example", "access-control-request-method": "POST"}
    assert client.options("/api/cypher", headers=headers).status_code == 403


def test_a_large_request_is_refused_before_it_is_read(client):
    headers = {"content-type": "application/json"}
    body = b" " * (2 << 20)
    assert client.post("/api/cypher", content=body, headers=headers).status_code == 413

    def pieces():
        for _ in range(32):
            yield b" " * (1 << 16)

    assert client.post("/api/cypher", content=pieces(), headers=headers).status_code == 413


@pytest.mark.parametrize(
    "path", ["/../etc/passwd", "/page/../../pyproject.toml", "/page/%2e%2e/app.py", "/.git/config"]
)
def test_no_path_reads_a_file_that_is_not_served(client, path):
    assert client.get(path).status_code == 404


def test_a_token_is_required_if_it_is_set(served_graph):
    access = Access(frozenset({"gpu-box"}), "open-sesame-open")
    with TestClient(create_app(served_graph, access=access), base_url="http://gpu-box") as client:
        refused = client.get("/api/runs")
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Basic")
        for wrong in ("Bearer open", "Basic !", "Digest open-sesame-open", "Bearer "):
            assert client.get("/api/runs", headers={"authorization": wrong}).status_code == 401
        bearer = {"authorization": "Bearer open-sesame-open"}
        assert client.get("/api/runs", headers=bearer).status_code == 200
        password = base64.b64encode(b"me:open-sesame-open").decode()
        basic = {"authorization": f"Basic {password}"}
        assert client.get("/api/runs", headers=basic).status_code == 200
