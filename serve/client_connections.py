# ruff: noqa: D102  asyncio and uvicorn document the methods
"""Connections of the HTTP server, with limits that no client can exceed.

httptools parses requests in C. This module adds limits of time, bytes and pieces, so that parsing
one client's bytes never delays the others for long, and closes the connection that has waited
longest when there are too many.
"""

import asyncio
from itertools import islice
from typing import Any, Final, cast

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from xlagraph.serve.readers.service_limits import (
    BODY_SECONDS,
    HALF_CLOSED_SECONDS,
    HEADER_SECONDS,
    MOST_BODY_BYTES,
    MOST_CHUNKS,
    MOST_HEADER_BYTES,
    MOST_HEADERS,
    MOST_PIPELINED,
    SENDING_SECONDS,
)

_READ_BYTES: Final = 4 << 10
"""Bytes that are read from one client before the others have their turn."""
_LATE_SECONDS: Final = 1.0
"""Seconds after the limit of a body, in which the application rejects it in words."""


class _Exceeded(Exception):
    """A request is larger than allowed; the parser ends it with status 400."""


class WaitingConnections:
    """The connections without a complete request, those that have waited longest first."""

    def __init__(self, most: int) -> None:
        self.most = most
        """Connections that may be open, waiting or not."""
        self._waiting: dict[BoundedConnection, None] = {}

    def add(self, connection: "BoundedConnection") -> None:
        """Add a connection as the latest."""
        self._waiting[connection] = None

    def discard(self, connection: "BoundedConnection") -> None:
        """Remove a connection, if it waits."""
        self._waiting.pop(connection, None)

    def make_room(self, count: int) -> None:
        """Close the connections that have waited longest if more are open than allowed."""
        for connection in list(islice(self._waiting, max(count - self.most, 0))):
            self.discard(connection)
            connection.transport.abort()


class BoundedConnection(HttpToolsProtocol):
    """A connection with limits for its requests, and for the client's reading."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        waiting: WaitingConnections,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._waiting = waiting
        self._request_due: asyncio.TimerHandle | None = None
        self._reading_due: asyncio.TimerHandle | None = None
        self._is_in_headers = True
        self._header_bytes = self._chunks = self._body_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # asyncio reads 256 KiB otherwise, which take milliseconds to parse before the next client
        transport.max_size = _READ_BYTES  # type: ignore[attr-defined]
        self._time_request(HEADER_SECONDS)
        self._waiting.add(self)
        self._waiting.make_room(len(self.connections))

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._request_due)
        _cancel(self._reading_due)
        self._waiting.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        was_in_headers = self._is_in_headers
        super().data_received(data)
        if self._is_in_headers:
            self._header_bytes += len(data) if was_in_headers else 0
            if self._header_bytes > MOST_HEADER_BYTES:
                self.send_400_response(f"headers have at most {MOST_HEADER_BYTES:,} bytes")
            elif self._request_due is None and not self._is_answering():
                self._time_request(HEADER_SECONDS)
        else:  # with what chunks have around their bytes
            self._body_bytes += len(data)
            if self._body_bytes > 2 * MOST_BODY_BYTES:  # the application rejects the first excess
                self.send_400_response(f"a request has at most {MOST_BODY_BYTES:,} bytes")

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection for some time if an answer is due, else close it."""
        if not self._is_answering() or self.cycle.more_body:
            return False
        self.cycle.keep_alive = False
        self.loop.call_later(HALF_CLOSED_SECONDS, self._end_half_closed)
        return True

    def send_400_response(self, msg: str) -> None:
        """Reject what is not HTTP; in the middle of an answer, end the connection."""
        if self._is_answering() or self.transport.is_closing():
            self.transport.abort()
        else:
            super().send_400_response(msg)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_headers = True
        self._header_bytes = self._chunks = self._body_bytes = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        if len(self.headers) > MOST_HEADERS:
            raise _Exceeded

    def on_headers_complete(self) -> None:
        self._is_in_headers = False
        if len(self.pipeline) >= MOST_PIPELINED:
            raise _Exceeded
        super().on_headers_complete()
        self._waiting.discard(self)
        self._time_request(BODY_SECONDS + _LATE_SECONDS)

    def on_chunk_header(self) -> None:
        """Count the chunks of a body; the parser calls this."""
        self._chunks += 1
        if self._chunks > MOST_CHUNKS:
            raise _Exceeded

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._is_in_headers = True  # of the next request
        _cancel(self._request_due)
        self._request_due = None

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._is_answering():
            self._waiting.add(self)
        if self.transport.get_write_buffer_size():
            self._time_reading()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._time_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._reading_due)

    def _is_answering(self) -> bool:
        # uvicorn sets it with the first request
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is not None and not cycle.response_complete

    def _time_request(self, seconds: float) -> None:
        _cancel(self._request_due)
        self._request_due = self.loop.call_later(seconds, self.transport.abort)

    def _end_half_closed(self) -> None:
        if not self.cycle.response_started:
            self.transport.close()

    def _time_reading(self) -> None:
        _cancel(self._reading_due)
        self._reading_due = self.loop.call_later(SENDING_SECONDS, self._end_unread)

    def _end_unread(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
