"""The HTTP server: what it rejects, and what one client cannot do to the others."""

import asyncio
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.responses import PlainTextResponse

from tests.serve.test_bounded_reads import (  # noqa: F401  a fixture
    port,
    received,
    sent,
    serving,
)
from xlagraph.serve import client_connections
from xlagraph.serve.guard import Access, _accepts_gzip
from xlagraph.serve.http_server import LogLines

HOST = "Host: {host}\n"
POST = f"POST /api/cypher HTTP/1.1\n{HOST}Content-Type: application/json\n"


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        (f"GET /healthz HTTP/9.9\n{HOST}\n", b"400"),
        (f"{POST}Content-Length: 5\nTransfer-Encoding: chunked\n\n0\n\n", b"400"),
        (f"{POST}Content-Encoding: gzip\nContent-Length: 2\n\n{{{{}}}}", b"415"),
        (f"GET / HTTP/1.1\n{HOST}" + "A: b\n" * 200 + "\n", b"400"),
        (f"GET / HTTP/1.1\n{HOST}A: " + "x" * 700_000, b"400"),
        (f"{POST}Transfer-Encoding: chunked\n\n" + "1\nx\n" * 3_000, b""),
        (f"{POST}Transfer-Encoding: chunked\n\n1;" + "a=b;" * 700_000, b""),
    ],
    ids=[
        "version",
        "length and chunks",
        "encoding",
        "many headers",
        "long header",
        "many chunks",
        "endless chunk extension",
    ],
)
def test_a_request_that_is_not_answered_ends_its_connection(port, request_text, status):  # noqa: F811
    with sent(port, request_text + (HOST if not status else "")) as connection:
        connection.settimeout(8)  # before the limit of time ends it
        answer = received(connection)
    assert answer[9:12] == status
    with sent(port, f"GET /healthz HTTP/1.1\n{HOST}Connection: close\n\n") as connection:
        assert received(connection)[9:12] == b"200"


def test_chunks_after_a_get_end_the_connection(port):  # noqa: F811
    with sent(port, f"GET /healthz HTTP/1.1\n{HOST}Transfer-Encoding: chunked\n\n") as connection:
        connection.settimeout(10)

        def send_without_end() -> None:
            while True:
                connection.sendall(b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n")

        with pytest.raises(OSError, match=r"[Bb]roken pipe|reset"):
            send_without_end()


def test_an_answer_may_take_longer_than_a_request(monkeypatch):
    async def slow(scope, receive, send):
        if scope["type"] == "lifespan":
            return
        await asyncio.sleep(0.8)
        await PlainTextResponse("late")(scope, receive, send)

    monkeypatch.setattr(client_connections, "HEADER_SECONDS", 0.6)  # from the connection
    request = f"GET / HTTP/1.1\n{HOST}Connection: close\n\n"
    with serving(slow) as served, sent(served, request) as connection:
        assert received(connection).endswith(b"late")


def test_a_client_that_closes_its_side_receives_its_answer(port):  # noqa: F811
    with sent(port, f"GET /api/runs HTTP/1.1\n{HOST}\n") as connection:
        connection.shutdown(1)
        assert received(connection).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("accepted", "is_packed"),
    [
        ("gzip", True),
        ("deflate, gzip;q=0.5", True),
        ("gzip;q=0", False),
        ("br, gzip; q=0.00", False),
        ("", False),
        ("identity", False),
    ],
)
def test_gzip_is_used_if_the_client_gives_it_weight(accepted, is_packed):
    assert _accepts_gzip(accepted) is is_packed


@pytest.mark.parametrize(
    "token", ["", "too-short", "has a space in it", "fünfzehn-oder-mehr", "x" * 15]
)
def test_a_token_that_nobody_can_send_or_many_can_guess_is_refused(token):
    with pytest.raises(ValueError, match="a token has 16 or more characters"):
        Access.on_address("127.0.0.1", token)


def test_a_log_whose_reader_stands_still_delays_nothing():
    reading, writing = os.pipe()
    log = LogLines(writing)
    began = time.monotonic()
    for number in range(30_000):
        log.write(f"line {number}")
    log.close()
    assert time.monotonic() - began < 5
    text: list[bytes] = []
    reader = threading.Thread(target=lambda: text.append(os.read(reading, 1 << 16)))
    reader.start()
    reader.join()
    # any later line may be dropped, even before the first one is written
    first = next(line for line in text[0].splitlines() if not line.startswith(b"("))
    assert first == b"line 0"


def test_a_log_has_the_path_as_it_was_sent_and_no_token(served_graph):
    from starlette.testclient import TestClient

    from xlagraph.serve import create_app

    lines: list[str] = []
    app = create_app(served_graph, log_access=lines.append)
    with TestClient(app, base_url="http://127.0.0.1:8000", root_path="/xlagraph") as client:
        client.get("/healthz?token=abc&b=1", headers={"referer": "http://x/?a=1&Token=def"})
    assert '"GET /healthz?token=…&b=1 HTTP/1.1"' in lines[0]
    assert "abc" not in lines[0]
    assert "def" not in lines[0]


def test_a_message_of_an_assistants_tool_is_a_short_sentence(served_graph):
    import anyio
    from mcp.server.mcpserver.exceptions import ToolError

    from xlagraph.queries import load_catalogue
    from xlagraph.serve.mcp_server import create_server
    from xlagraph.serve.readers.workers import Workers

    workers = Workers(served_graph, load_catalogue())
    server = create_server(workers)

    async def message(name: str, arguments: dict[str, object]) -> str:
        with pytest.raises(ToolError) as failed:
            await server.call_tool(name, arguments)
        return str(failed.value)

    async def ask() -> None:
        assert await message("list_runs", {"latest": -1}) == (
            "there is no argument latest; the arguments of list_runs are: none"
        )
        assert "the argument statement is missing" in await message("cypher", {})
        text = await message("value", {"label": ["x" * 100_000]})
        assert text.startswith("the argument label should be a valid string, found")
        assert len(text) < 2_100
        await workers.close()

    # in a separate thread: after browser tests, this one has a running loop
    with ThreadPoolExecutor(1) as threads:
        threads.submit(anyio.run, ask).result()
