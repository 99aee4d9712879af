"""The HTTP server: its sockets, its limits of connections, its log, and its shutdown."""

import asyncio
import os
import resource
import signal
import socket
import sys
import threading
from contextlib import suppress
from functools import partial
from queue import Full, Queue
from types import FrameType
from typing import Any, Final, cast

import uvicorn
from starlette.types import ASGIApp

from xlagraph.serve.client_connections import BoundedConnection, WaitingConnections
from xlagraph.serve.readers.service_limits import MOST_CONNECTIONS

_MOST_WAITING: Final = 10_000
"""Lines that wait for the reader; further ones are lost, and their number is written."""
_END_SECONDS: Final = 1.0
"""Seconds for the last lines at the end of the service."""


class LogLines:
    """Lines for a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: Queue[str | None] = Queue(_MOST_WAITING)
        self._lost = 0
        self._thread = threading.Thread(target=self._write_lines, daemon=True)
        self._thread.start()

    def write(self, line: str) -> None:
        """Write a line later, or lose it if too many wait."""
        try:
            self._lines.put_nowait(line)
        except Full:
            self._lost += 1

    def close(self) -> None:
        """Write the lines that wait, as far as the reader takes them at once."""
        with suppress(Full):
            self._lines.put(None, timeout=_END_SECONDS)
        self._thread.join(_END_SECONDS)

    def _write_lines(self) -> None:
        while (line := self._lines.get()) is not None:
            lost, self._lost = self._lost, 0
            if lost:
                line = f"({lost} lines were dropped: they were not read in time)\n{line}"
            with suppress(OSError):  # nobody reads any more
                self._write(f"{line}\n".encode(errors="backslashreplace"))

    def _write(self, text: bytes) -> None:
        while text:
            # not through sys.stderr, whose lock would stop the program's end
            text = text[os.write(self._descriptor, text) :]


_RESERVED_FILES: Final = 64
"""Open files for the processes that read, their pipes, and the libraries."""
_MOST_ACCEPTED: Final = 128
"""Connections that are accepted at once, and that the kernel keeps waiting."""


class _Server(uvicorn.Server):
    """A server that finishes open requests on SIGTERM and ends at once on Ctrl-C."""

    _has_reported = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._report)
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig == signal.SIGINT:
            self.force_exit = True
            self.config.timeout_graceful_shutdown = 0
        super().handle_exit(sig, frame)

    def _report(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Report that no file can be opened once; asyncio does so for each connection."""
        if not isinstance(context.get("exception"), OSError):
            loop.default_exception_handler(context)
        elif not self._has_reported:
            self._has_reported = True
            sys.stderr.write(f"{context['exception']}: some connections are not accepted\n")


def server_of(app: ASGIApp, root_path: str) -> uvicorn.Server:
    """Return the server of an application; `run` takes the sockets that it listens on."""
    accepted, most = _connection_limits()
    connection = partial(BoundedConnection, waiting=WaitingConnections(most))
    return _Server(
        uvicorn.Config(
            app,
            http=cast("type[asyncio.Protocol]", connection),  # it is only called
            ws="none",
            backlog=accepted,
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
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=_MOST_ACCEPTED)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _connection_limits() -> tuple[int, int]:
    """Return how many connections may be accepted at once, and how many may be open.

    The limit of open files is raised to the maximum that is allowed.
    """
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    accepted = max(min(_MOST_ACCEPTED, files // 8), 1)
    return accepted, max(min(MOST_CONNECTIONS, files - _RESERVED_FILES - accepted), 8)
