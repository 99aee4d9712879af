"""Measures how long `/healthz` takes while other clients attack the service.

    python -m benchmarks.slow_clients GRAPH [ATTACK …] [--seconds 10] [--clients 20]

Starts `xlagraph serve` on a free port of this machine, with a token that the attackers do not
know, and prints the median, the 99th percentile and the maximum of each attack.
"""

import argparse
import os
import resource
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

TOKEN: Final = "only-for-measurements"
LOW_FILES: Final = 128
"""Limit of open files for the service, in the attack that lowers this limit."""

Attack = Callable[[int, threading.Event], None]


def request(port: int, head: str, *lines: str) -> bytes:
    """Return the beginning of a request."""
    host = f"Host: 127.0.0.1:{port}"
    return "\r\n".join((f"{head} HTTP/1.1", host, *lines, "", "")).encode()


def repeated(begin: Callable[[int], bytes], piece: bytes, pause: float = 0.0) -> Attack:
    """Return an attack that sends a piece again and again after its beginning."""

    def attack(port: int, stop: threading.Event) -> None:
        while not stop.is_set():
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 5) as client:
                client.settimeout(1)
                client.sendall(begin(port))
                while not stop.is_set():
                    client.sendall(piece)
                    if pause:
                        time.sleep(pause)
            time.sleep(0.01)

    return attack


def half_sent(port: int, stop: threading.Event) -> None:
    """Hold many connections with half a request."""
    held: list[socket.socket] = []
    while not stop.is_set():
        with suppress(OSError):
            held.append(socket.create_connection(("127.0.0.1", port), 5))
            held[-1].sendall(b"GET /healthz HTTP/1.1\r\nHo")
        if len(held) > 45:
            held.pop(0).close()
        time.sleep(0.005)
    for client in held:
        client.close()


def _post(port: int, *lines: str) -> bytes:
    return request(port, "POST /api/cypher", "Content-Type: application/json", *lines)


def _chunked(port: int) -> bytes:
    return _post(port, "Transfer-Encoding: chunked")


def _with_token(port: int) -> bytes:
    return _post(port, "Transfer-Encoding: chunked", f"Authorization: Bearer {TOKEN}")


ATTACKS: Final[dict[str, Attack]] = {
    "none": lambda _, stop: (stop.wait(), None)[1],
    "one-byte chunks": repeated(_chunked, b"1\r\nx\r\n" * 10_000),
    "one-byte chunks, with the token": repeated(_with_token, b"1\r\nx\r\n" * 10_000),
    "endless chunks after a GET": repeated(
        lambda port: request(port, "GET /healthz", "Transfer-Encoding: chunked"),
        b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n",
    ),
    "endless header": repeated(lambda port: request(port, "GET /")[:-2] + b"A: ", b"x" * 65536),
    "endless headers": repeated(lambda port: request(port, "GET /")[:-2], b"A: b\r\n" * 10_000),
    "pipelined requests": repeated(lambda _: b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 3_000),
    "slow body": repeated(_with_token, b"1\r\nx\r\n", pause=0.05),
    "half-sent requests": half_sent,
    "half-sent requests, few files": half_sent,
    "log reader that stands still": repeated(
        lambda _: b"", b"GET /" + b"x" * 2000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", pause=0.01
    ),
}


@contextmanager
def served(graph: Path, attack: str) -> Iterator[tuple[int, Path]]:
    """Serve a graph; its port, and the file of its standard error."""
    errors = Path(f"/tmp/slow-clients-{os.getpid()}.txt")
    stalled = attack.startswith("log reader")
    few_files = attack.endswith("few files")
    with errors.open("wb") as log:
        service = subprocess.Popen(
            [str(Path(sys.executable).with_name("xlagraph")), "serve", "--graph", str(graph)]
            + (["--access-log"] if stalled else []),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if stalled else log,
            env={**os.environ, "XLAGRAPH_TOKEN": TOKEN},
            preexec_fn=(
                (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (LOW_FILES, LOW_FILES)))
                if few_files
                else None
            ),
        )
        assert service.stdout is not None
        try:
            port = int(service.stdout.readline().rpartition(b":")[2])
            for _ in range(200):
                with suppress(OSError):
                    healthz_seconds(port)
                    break
                time.sleep(0.1)
            yield port, errors
        finally:
            began = time.perf_counter()
            service.terminate()
            try:
                service.wait(20)
                print(f"    ended {time.perf_counter() - began:.1f} s after SIGTERM")
            except subprocess.TimeoutExpired:
                print("    did not end within 20 s of SIGTERM")
                service.kill()
                service.wait()
            if service.stderr is not None:
                service.stderr.close()
            errors.unlink()


def healthz_seconds(port: int) -> float:
    """Return the time of one `/healthz` on a connection of its own."""
    began = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port), 30) as client:
        client.settimeout(30)
        asked = ("Connection: close", f"Authorization: Bearer {TOKEN}")
        client.sendall(request(port, "GET /healthz", *asked))
        if not client.recv(100).startswith(b"HTTP/1.1 200"):
            raise OSError("no answer")
    return time.perf_counter() - began


def measure(graph: Path, name: str, seconds: float, clients: int) -> None:
    """Print the times of `/healthz` under an attack."""
    stop = threading.Event()
    with served(graph, name) as (port, errors):
        threads = [
            threading.Thread(target=ATTACKS[name], args=(port, stop), daemon=True)
            for _ in range(clients)
        ]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        end = time.perf_counter() + seconds
        times: list[float] = []
        failed = 0
        while time.perf_counter() < end:
            try:
                times.append(healthz_seconds(port))
            except OSError:
                failed += 1
            time.sleep(0.05)
        stop.set()
        times.sort()
        if times:
            percentile = times[min(len(times) - 1, len(times) * 99 // 100)]
            print(
                f"{name}: {len(times)} answers, {failed} failed, median"
                f" {1000 * statistics.median(times):.0f} ms, 99 % {1000 * percentile:.0f} ms,"
                f" most {1000 * times[-1]:.0f} ms, {errors.stat().st_size:,} bytes of messages",
                flush=True,
            )
        else:
            print(f"{name}: no answer, {failed} failed", flush=True)
        for thread in threads:
            thread.join(7)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the attacks that are named, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("graph", type=Path)
    parser.add_argument("attack", nargs="*", default=list(ATTACKS))
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--clients", type=int, default=20)
    given = parser.parse_args(arguments)
    for name in given.attack:
        measure(given.graph, name, given.seconds, given.clients)


if __name__ == "__main__":
    main()
