"""Who may ask, and what a browser may do with an answer.

Any page that a browser shows can send requests to a service on the same machine. Three
checks keep such pages out: the Host header must name this service (a foreign name may lead
here by DNS), a request that says where it comes from must come from here, and on other
addresses than loopback a token is asked for.
"""

import hmac
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from xlagraph.serve.request_limits import MOST_AT_ONCE, MOST_BODY_BYTES

__all__ = ["Access", "Guard"]

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})

_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
        " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
        " require-trusted-types-for 'script'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask."""

    hosts: frozenset[str] | None = LOOPBACK
    """Names by which the service may be called, without port; None if by any, with a token."""
    token: str | None = None
    """What a caller must know, as bearer token or as password; None asks for nothing."""

    def __post_init__(self) -> None:
        """Raise ValueError if any page could ask."""
        if self.hosts is None and not self.token:
            raise ValueError("a service that may be called by any name needs a token")

    @classmethod
    def on_address(cls, address: str, token: str | None) -> "Access":
        """Return who may ask a service on this address.

        Raises ValueError where other machines can reach it and there is no token.
        """
        if address in LOOPBACK:
            return cls(LOOPBACK, token)
        if not token:
            raise ValueError(f"{address} can be reached from elsewhere, so a token is needed")
        try:
            is_every_address = ip_address(address).is_unspecified
        except ValueError:  # a name
            is_every_address = False
        return cls(None if is_every_address else frozenset({address}), token)

    def allows_name(self, name: str) -> bool:
        """Return whether the service may be called so; the case of names does not matter."""
        return self.hosts is None or name.lower() in {host.lower() for host in self.hosts}


class Guard:
    """ASGI middleware that refuses what `Access` does not allow, and sets the headers."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Headers(scope=scope), str(scope["method"]))
        if refusal is None and self._under_way >= MOST_AT_ONCE:
            refusal = _refused(503, "too many requests at once", {"Retry-After": "1"})

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        if scope["path"].startswith("//"):  # an address that ends in a slash, and a path
            scope = {**scope, "path": "/" + scope["path"].lstrip("/")}
        self._under_way += 1
        try:
            await (refusal or self._app)(scope, receive, send_guarded)
        finally:
            self._under_way -= 1

    def _refusal(self, headers: Headers, method: str) -> Response | None:
        host = headers.get("host", "")
        if not self._access.allows_name(_name_of(host)):
            return _refused(421, "this service has another name")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return _refused(403, "another page may not ask this service")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return _refused(403, "another page may not ask this service")
        if self._access.token is not None and not _has_token(headers, self._access.token):
            return _refused(
                401, "a token is needed", {"WWW-Authenticate": 'Basic realm="xlagraph"'}
            )
        if method not in ("GET", "HEAD", "POST"):
            return _refused(405, f"{method[:20]} is not answered", {"Allow": "GET, HEAD, POST"})
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BODY_BYTES:
            return _refused(413, f"a request has at most {MOST_BODY_BYTES:,} bytes")
        return None


def _name_of(host: str) -> str:
    if host.startswith("["):  # [::1]:8000
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _has_token(headers: Headers, token: str) -> bool:
    kind, _, given = headers.get("authorization", "").partition(" ")
    if kind.lower() == "basic":
        try:
            given = b64decode(given, validate=True).decode().partition(":")[2]
        except (NotBase64, UnicodeDecodeError):
            return False
    elif kind.lower() != "bearer":
        return False
    return hmac.compare_digest(given.encode(), token.encode())


def _refused(code: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"error": message}, code, headers)
