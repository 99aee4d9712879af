"""Responses of the service: reads that end with their client, rejections, pieces, status 304."""

import asyncio
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from xlagraph.serve.readers.jobs import Job, ReadAnswer
from xlagraph.serve.readers.service_limits import MOST_HELD_BYTES, MOST_MESSAGE_CHARACTERS
from xlagraph.serve.readers.workers import Workers


class ClientGone(Exception):
    """The client disconnected before the answer."""


async def read_for(request: Request, workers: Workers, job: Job) -> ReadAnswer:
    """Return a job's answer; end it and raise ClientGone if the client disconnects."""
    reading = asyncio.create_task(workers.read(job))
    leaving = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait((reading, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not reading.done():
            raise ClientGone
        return reading.result()
    finally:
        reading.cancel()
        leaving.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


_PIECE_BYTES: Final = 1 << 18


def refused(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a rejection as JSON; a long message is cut."""
    if len(message) > MOST_MESSAGE_CHARACTERS:
        message = message[:MOST_MESSAGE_CHARACTERS] + " …"
    # escaped to ASCII: a message may quote what is not UTF-8
    return Response(
        json.dumps({"error": message}) + "\n", status, headers, media_type="application/json"
    )


def entity_tag(*parts: object) -> str:
    """Return an ETag that changes with any of its parts."""
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()
    return f'W/"{digest[:32]}"'


def is_unchanged(request: Request, tag: str) -> bool:
    """Return True if the client already has the content of this tag."""
    given = request.headers.get("if-none-match", "")
    return tag in (name.strip() for name in given.split(",")) or given.strip() == "*"


class HeldBytes:
    """A count of the bytes in unsent answers."""

    def __init__(self) -> None:
        self.size_bytes = 0

    @contextmanager
    def hold(self, size_bytes: int) -> Iterator[bool]:
        """Count bytes while they are sent; yield False if the limit is exceeded."""
        self.size_bytes += size_bytes
        try:
            yield self.size_bytes <= MOST_HELD_BYTES
        finally:
            self.size_bytes -= size_bytes


class PiecedResponse(Response):
    """An answer that is sent as fast as the client reads; rejected if too much is unsent."""

    def __init__(
        self, body: bytes, held: HeldBytes, media_type: str, headers: Mapping[str, str]
    ) -> None:
        super().__init__(body, headers=headers, media_type=media_type)
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        body = bytes(self.body)
        with self._held.hold(len(body)) as has_room:
            if not has_room:
                busy = refused(503, "too many answers are waiting to be sent", {"Retry-After": "5"})
                await busy(scope, receive, send)
                return
            await send(
                {
                    "type": "http.response.start",
                    "status": self.status_code,
                    "headers": self.raw_headers,
                }
            )
            for start in range(0, max(len(body), 1), _PIECE_BYTES):
                end = start + _PIECE_BYTES
                await send(
                    {
                        "type": "http.response.body",
                        "body": body[start:end],
                        "more_body": end < len(body),
                    }
                )
