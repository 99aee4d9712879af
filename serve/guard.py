"""Access control: allowed hosts, origins and tokens, and security headers.

Any page that a browser shows can send requests to a service on the same machine. Three
checks keep such pages out: the Host header must name this service (a foreign name may lead
here by DNS), a request that says where it comes from must come from here, and on other
addresses than loopback a token is asked for. A link of another site may be followed: then the
browser shows the answer, and no script of that site reads it.
"""

import hmac
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from xlagraph.serve.readers.service_limits import MOST_BODY_BYTES
from xlagraph.serve.responses import refused

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
}

# 127.0.0.1, gpu-box.example:8000, [::1]:8000
_HOST: Final = re.compile(
    r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]{1,5})?",
    re.IGNORECASE | re.ASCII,
)

_LEAST_TOKEN: Final = 16
# header fields and the passwords of a browser can carry these
_TOKEN: Final = re.compile(rf"[!-~]{{{_LEAST_TOKEN},}}")


@dataclass(frozen=True, slots=True)
class Access:
    """The hosts and the token that requests must have."""

    hosts: frozenset[str] | None = LOOPBACK
    """Allowed host names without port; None allows any, together with a token."""
    token: str | None = None
    """Secret that callers must send as bearer token or password; None requires nothing."""

    def __post_init__(self) -> None:
        """Raise ValueError if any web page could send requests, or nobody the token."""
        if self.hosts is None and not self.token:
            raise ValueError("a service that allows any host name requires a token")
        if self.token is not None and not _TOKEN.fullmatch(self.token):
            raise ValueError(
                f"a token has {_LEAST_TOKEN} or more characters: letters, digits and ASCII"
                " signs without spaces"
            )

    @classmethod
    def on_address(
        cls, address: str, token: str | None, proxy_names: Collection[str] = ()
    ) -> "Access":
        """Return the access rules of a service on this address, with the names of a proxy.

        Raises ValueError if other machines can reach it and there is no token.
        """
        if not token and (proxy_names or address not in LOOPBACK):
            reached = ", ".join(proxy_names) or address
            raise ValueError(f"other machines can reach {reached}, so a token is required")
        if address in LOOPBACK:
            return cls(LOOPBACK.union(proxy_names), token)
        try:
            is_every_address = ip_address(address).is_unspecified
        except ValueError:  # a name
            is_every_address = False
        return cls(None if is_every_address else frozenset({address, *proxy_names}), token)

    def allows_name(self, name: str) -> bool:
        """Return True if a host name is allowed; upper and lower case are the same."""
        return self.hosts is None or name.lower() in {host.lower() for host in self.hosts}


class Guard:
    """ASGI middleware that rejects what `Access` does not allow, and sets the headers."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(headers, str(scope["method"]))

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        if not _accepts_gzip(headers.get("accept-encoding", "")):  # starlette looks for the word
            scope["headers"] = [each for each in scope["headers"] if each[0] != b"accept-encoding"]
        if scope["path"].startswith("//"):  # an address that ends in a slash, and a path
            scope["path"] = "/" + scope["path"].lstrip("/")
        await (refusal or self._app)(scope, receive, send_guarded)

    def _refusal(self, headers: Headers, method: str) -> Response | None:
        hosts = headers.getlist("host")
        host = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if host is None:
            return refused(400, "expected one Host header with a name or an address")
        if not self._access.allows_name(host["address"] or host["name"]):
            return refused(421, "the Host header names another service")
        if not _is_from_here(headers, method, hosts[0]):
            return refused(403, "requests from other web pages are not allowed")
        if self._access.token is not None and not _has_token(headers, self._access.token):
            challenge = {"WWW-Authenticate": 'Basic realm="xlagraph"'}
            return refused(401, "a token is required", challenge)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BODY_BYTES:
            return refused(413, f"a request has at most {MOST_BODY_BYTES:,} bytes")
        if headers.get("content-encoding", "identity").strip().lower() != "identity":
            return refused(415, "a body with a Content-Encoding is not accepted: send it without")
        return None


def _accepts_gzip(accepted: str) -> bool:
    """Return True if a client lists gzip with a weight above 0."""
    for each in accepted.lower().split(","):
        name, _, parameters = each.partition(";")
        if name.strip() in ("gzip", "x-gzip"):
            weight = parameters.replace(" ", "").removeprefix("q=")
            return re.fullmatch(r"0(\.0*)?", weight) is None
    return False


def _is_from_here(headers: Headers, method: str, host: str) -> bool:
    """Return False if another web page sent the request, unless it only follows a link."""
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != host.lower():
        return False
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return True
    follows_link = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == (
        "navigate",
        "document",
    )
    return follows_link and method in ("GET", "HEAD")


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
