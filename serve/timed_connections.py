"""The HTTP server with time limits for connections, and its shutdown.

uvicorn limits the idle time between two requests. This module closes connections that never
complete their headers or never read their answer. Incomplete bodies are refused where they are
read.
"""

import asyncio
import resource
import signal
import socket
from types import FrameType

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from xlagraph.serve.request_limits import HEADER_SECONDS, SENDING_SECONDS

__all__ = ["listen", "server_of"]


class _TimedConnection(H11Protocol):
    """A connection with a time limit for headers and for the reader of an answer."""

    _headers_due: asyncio.TimerHandle | None = None
    _reading_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._time_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._headers_due)
        _cancel(self._reading_due)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._time_headers()

    def _time_headers(self) -> None:
        """Start the timer unless it runs; stop it when a request has begun."""
        if self.conn.our_state in (h11.SEND_RESPONSE, h11.SEND_BODY):
            _cancel(self._headers_due)
            self._headers_due = None
        elif self._headers_due is None:
            self._headers_due = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._time_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._reading_due)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self._time_reading()

    def _time_reading(self) -> None:
        _cancel(self._reading_due)
        self._reading_due = self.loop.call_later(SENDING_SECONDS, self._end_unread)

    def _end_unread(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class _Server(uvicorn.Server):
    """A server that finishes open requests on SIGTERM and ends at once on Ctrl-C."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig == signal.SIGINT:
            self.force_exit = True
            self.config.timeout_graceful_shutdown = 0
        super().handle_exit(sig, frame)


def server_of(app: ASGIApp, root_path: str) -> uvicorn.Server:
    """Return the server of an application; `run` takes the sockets that it listens on."""
    return _Server(
        uvicorn.Config(
            app,
            http=_TimedConnection,
            ws="none",
            log_level="critical",  # what is cut off at the end is not an error
            access_log=False,
            server_header=False,
            root_path=root_path,
        )
    )


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise OSError on failure.

    Answers are sent without delay. The kernel would otherwise hold a second small packet until
    the first is acknowledged, some 40 ms. Accepted sockets inherit the option.
    """
    _allow_many_connections()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=1024)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _allow_many_connections() -> None:
    """Raise the limit of open files to the maximum that is allowed."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
