"""Records each answered request in the access log and in the metrics."""

import re
import time
from collections.abc import Callable
from datetime import datetime
from typing import Final

from starlette.datastructures import Headers
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from xlagraph.serve.metrics import Metrics

__all__ = ["Observed"]

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
