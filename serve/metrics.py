"""Metrics of the service for Prometheus, and the record of each answered request."""

import re
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from xlagraph.serve.readers.jobs import Lane
from xlagraph.serve.readers.workers import Workers
from xlagraph.serve.responses import HeldBytes


class Metrics:
    """Counts of requests by route and status, reads by lane, and unsent bytes."""

    def __init__(self, workers: Workers, held: HeldBytes) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "xlagraph_requests",
            "Requests that were answered",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "xlagraph_request_seconds",
            "Time from a request to the end of its answer",
            ("route",),
            registry=self._registry,
        )
        reading = Gauge(
            "xlagraph_reads_under_way",
            "Processes that read the graph now",
            ("lane",),
            registry=self._registry,
        )
        waiting = Gauge(
            "xlagraph_reads_waiting",
            "Reads that wait for a process",
            ("lane",),
            registry=self._registry,
        )
        ended = Gauge(
            "xlagraph_processes_ended",
            "Processes that were ended for their time or memory, or died, since the start",
            ("lane",),
            registry=self._registry,
        )
        for lane in Lane:
            counts = workers.lane_counts(lane)
            reading.labels(lane.value).set_function(partial(getattr, counts, "reading"))
            waiting.labels(lane.value).set_function(partial(getattr, counts, "waiting"))
            ended.labels(lane.value).set_function(partial(getattr, counts, "ended"))
        Gauge(
            "xlagraph_held_bytes", "Answers that wait to be read", registry=self._registry
        ).set_function(lambda: held.size_bytes)

    def record(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    async def respond(self, request: Request) -> Response:
        """Return the numbers in the text form of Prometheus."""
        del request
        return Response(
            generate_latest(self._registry), headers={"Content-Type": CONTENT_TYPE_LATEST}
        )


# a token does not belong into an address, but a log must not keep it
_SECRET: Final = re.compile(r"""((?:[?&]|%3f|%26)[\w-]*token(?:=|%3d))[^&\s"]*""", re.IGNORECASE)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS"})


class Observed:
    """ASGI middleware that records requests after the last byte of their answer."""

    def __init__(
        self, app: ASGIApp, metrics: Metrics, log_access: Callable[[str], None] | None
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._log_access = log_access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status, sent_bytes = 499, 0  # of a client that has gone

        async def send_observed(message: Message) -> None:
            nonlocal status, sent_bytes
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "http.response.body":
                sent_bytes += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, send_observed)
        finally:
            route = scope.get("route")
            self._metrics.record(
                # a path that is not there, or an odd method, would make a series of its own
                route.path if isinstance(route, Route | Mount) else "other",
                scope["method"] if scope["method"] in _METHODS else "other",
                status,
                time.perf_counter() - began,
            )
            if self._log_access is not None:
                self._log_access(_line(scope, status, sent_bytes))


def _line(scope: Scope, status: int, sent_bytes: int) -> str:
    """Return a request in the combined log format of Apache and nginx."""
    headers = Headers(scope=scope)
    client = (scope.get("client") or ("-",))[0]
    when = datetime.now().astimezone().strftime("%d/%b/%Y:%H:%M:%S %z")
    # as the client sent it: uvicorn adds the prefix of the proxy
    target = scope.get("raw_path", b"").decode("latin-1").removeprefix(scope.get("root_path", ""))
    if scope["query_string"]:
        target += "?" + scope["query_string"].decode("latin-1")
    request = f"{scope['method']} {target} HTTP/{scope['http_version']}"
    referrer, agent = headers.get("referer", "-"), headers.get("user-agent", "-")
    line = (
        f"{client} - - [{when}] {_quoted(request)} {status} {sent_bytes}"
        f" {_quoted(referrer)} {_quoted(agent)}"
    )
    return _SECRET.sub(r"\1…", line)


def _quoted(text: str) -> str:
    """Return quoted text, so that input of a client stays one field of one line."""
    return '"' + text.encode("unicode_escape").decode().replace('"', '\\"') + '"'
