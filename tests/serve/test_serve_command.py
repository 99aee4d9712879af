"""`xlagraph serve` prints its address first, and Ctrl-C ends it at once."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

PATIENCE_SECONDS = 180
AGENT = 'a "b\x1b"'
COMMAND = (sys.executable, "-c", "from xlagraph.cli import main; raise SystemExit(main())")


@pytest.fixture
def start():
    started = []

    def start_command(*arguments, **environment):
        process = subprocess.Popen(
            [*COMMAND, "serve", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        started.append(process)
        return process

    yield start_command
    for process in started:
        process.kill()
        process.communicate()


def test_the_first_line_is_the_address_of_a_free_port_on_this_machine(start, served_graph):
    process = start("--graph", str(served_graph))
    address = process.stdout.readline().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", address)
    with urllib.request.urlopen(f"{address}/api/runs") as answer:
        assert [row["run"] for row in json.load(answer)] == ["after", "before", "padded"]
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130
    assert f"graph: {served_graph}" in errors
    assert "Traceback" not in errors


def test_ctrl_c_does_not_wait_for_a_statement(start, served_graph):
    process = start("--graph", str(served_graph))
    address = process.stdout.readline().strip()
    statement = "UNWIND range(1, 3000) AS a UNWIND range(1, 3000000) AS b RETURN sum(a * b) AS sum"
    body = json.dumps({"statement": statement})
    port = int(address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as asking:
        request = (
            f"POST /api/cypher HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        )
        before = processor_seconds(process.pid)
        asking.sendall(request.encode())
        deadline = time.monotonic() + PATIENCE_SECONDS
        while processor_seconds(process.pid) < before + 0.5:  # the statement is running
            assert time.monotonic() < deadline
            time.sleep(0.01)
        with urllib.request.urlopen(f"{address}/healthz"):  # answered while the statement runs
            pass
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130


def test_sigterm_finishes_the_open_requests(start, served_graph):
    process = start("--graph", str(served_graph))
    address = process.stdout.readline().strip()
    statement = "UNWIND range(1, 1000) AS a UNWIND range(1, 60000) AS b RETURN sum(a * b) AS sum"
    asking = urllib.request.Request(
        f"{address}/api/cypher",
        json.dumps({"statement": statement}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(f"{address}/readyz"), ThreadPoolExecutor(1) as threads:
        before = processor_seconds(process.pid)
        answered = threads.submit(urllib.request.urlopen, asking)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while processor_seconds(process.pid) < before + 0.2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        with answered.result() as answer:
            assert json.load(answer) == [{"sum": 900_915_015_000_000}]
    process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == -signal.SIGTERM


def test_a_killed_service_leaves_no_process(start, served_graph):
    process = start("--graph", str(served_graph))
    with urllib.request.urlopen(f"{process.stdout.readline().strip()}/readyz"):
        readers = psutil.Process(process.pid).children()
    assert readers
    process.kill()
    assert psutil.wait_procs(readers, timeout=PATIENCE_SECONDS)[1] == []


def test_below_the_path_of_a_proxy_every_address_includes_it(start, served_graph):
    process = start(
        *("--graph", str(served_graph), "--root-path", "/graphs"),
        *("--proxy-name", "graphs.example", "--access-log"),
        XLAGRAPH_TOKEN="open-sesame-door",
    )
    address = process.stdout.readline().strip()
    headers = {
        "Authorization": "Bearer open-sesame-door",
        "Host": "graphs.example",
        "User-Agent": 'a "b"',
    }

    def read(path):  # like the proxy, which strips the path
        asking = urllib.request.Request(f"{address}{path}", headers=headers)
        with urllib.request.urlopen(asking) as answer:
            return answer.read().decode(), answer.headers

    page, _ = read("/view/before/")
    assert 'data-root="/graphs"' in page
    (style,) = re.findall(r'href="/graphs(/page/[0-9a-f]+/page.css)"', page)
    _, kept = read(style)
    assert "max-age=31536000" in kept["Cache-Control"]
    assert kept["ETag"]
    assert json.loads(read("/api/runs")[0])
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    line = r'127\.0\.0\.1 - - \[.+\] "GET /api/runs HTTP/1\.1" 200 \d+ "-" "a \\"b\\""'
    assert re.search(line, errors)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--root-path", "graphs", "expected --root-path such as /xlagraph"),
        ("--root-path", "/graphs/", "expected --root-path such as /xlagraph"),
        ("--proxy-name", "graphs.example", "set XLAGRAPH_TOKEN"),
        ("--memory", "much", "expected bytes such as 64MiB"),
        ("--memory", "1MiB", "expected --memory of at least 256.0 MiB"),
    ],
)
def test_an_option_without_effect_says_which_one_to_use(
    start, served_graph, option, value, message
):
    process = start("--graph", str(served_graph), option, value)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 2
    assert message in errors


def processor_seconds(pid):
    """Return the processor time of the processes that one has started."""
    return sum(sum(child.cpu_times()[:2]) for child in psutil.Process(pid).children())


def test_a_token_is_required_if_other_machines_can_connect(start, served_graph):
    process = start("--graph", str(served_graph), "--host", "0.0.0.0")
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 2
    assert "set XLAGRAPH_TOKEN" in errors


def test_a_service_on_all_addresses_is_called_by_any_name_with_the_token(start, served_graph):
    process = start(
        "--graph", str(served_graph), "--host", "0.0.0.0", XLAGRAPH_TOKEN="open-sesame-door"
    )
    port = process.stdout.readline().strip().rpartition(":")[2]
    asking = urllib.request.Request(f"http://localhost:{port}/healthz")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(asking)
    asking.add_header("Authorization", "Bearer open-sesame-door")
    asking.add_header("Host", "gpu-box.example")
    with urllib.request.urlopen(asking) as answer:
        assert json.load(answer) == {"status": "ok"}


def test_without_a_graph_the_command_does_not_listen(start, tmp_path):
    process = start("--graph", str(tmp_path / "missing.lbug"))
    out, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, out) == (3, "")
    assert "no graph at" in errors
