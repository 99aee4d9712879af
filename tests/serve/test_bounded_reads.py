"""A read is limited, and the service survives the death of a process that reads."""

import json
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from xlagraph.serve import api, client_connections, create_app
from xlagraph.serve.http_server import listen, server_of
from xlagraph.serve.readers import workers

PATIENCE_SECONDS = 120
SLOW = "UNWIND range(1, 3000) AS a UNWIND range(1, 3000000) AS b RETURN sum(a * b) AS sum"


Busy = Callable[[], list[psutil.Process]]


def ask(client: TestClient, statement: str) -> tuple[int, object]:
    response = client.post("/api/cypher", json={"statement": statement})
    return response.status_code, response.json()


def reads_under_way(client: TestClient) -> bool:
    """Return whether a process that has the graph open reads for a statement."""
    return 'xlagraph_reads_under_way{lane="statements"} 1.0' in client.get("/metrics").text


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def busy() -> Busy:
    """Return the processes for statements of this test that have computed."""
    own = psutil.Process()
    others, usual = set(own.children()), own.nice()

    def find() -> list[psutil.Process]:
        found = []
        for child in own.children():
            try:
                if child not in others and child.nice() > usual and sum(child.cpu_times()[:2]) > 1:
                    found.append(child)
            except psutil.NoSuchProcess:
                continue
        return found

    return find


def test_a_statement_that_takes_too_long_is_ended(
    served_graph: Path, busy: Busy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "MOST_SECONDS", 2.0)
    with TestClient(create_app(served_graph), base_url="http://127.0.0.1:8000") as client:
        deep = "RETURN " + "CASE WHEN true THEN " * 50 + "1" + " END" * 50 + " AS x"
        for statement in (SLOW, deep):  # one computes for long, one is parsed for long
            status, answer = ask(client, statement)
            assert (status, answer) == (400, {"error": "the read took longer than 2 s"})
            assert not busy()
        assert ask(client, "RETURN 1 AS one") == (200, [{"one": 1}])


def test_a_statement_that_takes_too_much_memory_is_ended(served_graph: Path) -> None:
    app = create_app(served_graph, memory_bytes=512 << 20)
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        status, answer = ask(client, "RETURN range(1, 1000000000) AS numbers")
        message = "the read needs more than 512.0 MiB of memory; request less at once"
        assert (status, answer) == (400, {"error": message})
        assert ask(client, "RETURN 1 AS one") == (200, [{"one": 1}])


def test_an_answer_of_too_many_bytes_is_refused(client: TestClient) -> None:
    status, answer = ask(client, "UNWIND range(1, 6000) AS n RETURN range(1, 1000) AS numbers")
    assert status == 400
    assert "the answer has more than 32.0 MiB" in json.dumps(answer)


def test_a_process_that_dies_ends_only_its_read(served_graph: Path, busy: Busy) -> None:
    with (
        TestClient(create_app(served_graph), base_url="http://127.0.0.1:8000") as client,
        ThreadPoolExecutor(1) as threads,
    ):
        asked: Future[tuple[int, object]] = threads.submit(ask, client, SLOW)
        until(lambda: busy() and reads_under_way(client))  # its start computes too
        (process,) = busy()
        process.send_signal(signal.SIGSEGV)
        status, answer = asked.result()
        assert status == 503
        assert "the process that read the graph ended" in json.dumps(answer)
        assert client.get("/api/runs").status_code == 200
        assert ask(client, "RETURN 1 AS one") == (200, [{"one": 1}])


def test_slow_statements_do_not_delay_fast_reads(served_graph: Path, busy: Busy) -> None:
    with (
        TestClient(create_app(served_graph), base_url="http://127.0.0.1:8000") as client,
        ThreadPoolExecutor(4) as threads,
    ):
        asked = [threads.submit(ask, client, SLOW) for _ in range(4)]
        until(lambda: len(busy()) == 2)
        for path in ("/healthz", "/readyz", "/api/runs", "/api/query/peak/contributors"):
            assert client.get(path).status_code == 200
            assert not any(each.done() for each in asked)
        while not all(each.done() for each in asked):
            for process in busy():
                process.kill()
            time.sleep(0.1)


@pytest.fixture
def port(served_graph: Path) -> Iterator[int]:
    """Serve on a free port of this machine like the command."""
    with serving(create_app(served_graph)) as port:
        yield port


@contextmanager
def serving(app: ASGIApp) -> Iterator[int]:
    listener = listen("127.0.0.1", 0)
    server = server_of(app, "")
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    until(lambda: server.started)
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def sent(port: int, text: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
    connection.sendall(text.replace("\n", "\r\n").format(host=f"127.0.0.1:{port}").encode())
    return connection


def test_a_client_that_hangs_up_ends_its_statement(port: int, busy: Busy) -> None:
    body = json.dumps({"statement": SLOW})
    head = "POST /api/cypher HTTP/1.1\nHost: {host}\nContent-Type: application/json\n"
    with sent(port, f"{head}Content-Length: {len(body)}\n\n") as connection:
        connection.sendall(body.encode())
        until(busy)
        (process,) = busy()
    until(lambda: not process.is_running())


def test_many_clients_at_once_lose_no_request(port: int) -> None:
    def get(path: str) -> bytes:
        with sent(
            port, f"GET {path} HTTP/1.1\nHost: {{host}}\nConnection: close\n\n"
        ) as connection:
            return received(connection)[:12]

    paths = ["/api/runs", "/api/query/peak/contributors?limit=3", "/healthz", "/"] * 50
    with ThreadPoolExecutor(32) as threads:
        assert set(threads.map(get, paths)) == {b"HTTP/1.1 200"}


@pytest.fixture
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_connections, "HEADER_SECONDS", 0.5)
    monkeypatch.setattr(client_connections, "SENDING_SECONDS", 0.5)
    monkeypatch.setattr(api, "BODY_SECONDS", 0.5)


@pytest.mark.usefixtures("short_limits")
def test_stalled_requests_are_ended_and_block_no_other(port: int) -> None:
    post = "POST /api/cypher HTTP/1.1\nHost: {host}\nContent-Type: application/json\n"
    bodies = [sent(port, f"{post}Content-Length: 100\n\n") for _ in range(40)]
    headers = [sent(port, "GET /api/runs HTTP/1.1\nHo") for _ in range(40)]
    silent = [sent(port, "") for _ in range(40)]
    with sent(port, "GET /api/runs HTTP/1.1\nHost: {host}\n\n") as connection:
        assert connection.recv(12) == b"HTTP/1.1 200"
    for connection in bodies:
        assert connection.recv(12) == b"HTTP/1.1 408"
        connection.close()
    for connection in (*headers, *silent):
        assert received(connection) == b""
        connection.close()


@pytest.mark.usefixtures("short_limits")
def test_a_reader_that_does_not_read_is_ended(port: int) -> None:
    request = "GET /api/queries HTTP/1.1\nHost: {host}\n\n"
    with sent(port, request * 16) as connection:
        time.sleep(2)  # four times the limit
        assert len(received(connection)) < 16 * 274_000


def received(connection: socket.socket) -> bytes:
    """Return all bytes from a connection until it ends, orderly or not."""
    pieces = []
    try:
        while piece := connection.recv(1 << 16):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    return b"".join(pieces)


def test_small_answers_are_sent_without_delay() -> None:
    with (
        listen("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
