"""`xlagraph serve` and `xlagraph mcp`: the graph for browsers and for assistants."""

import os
import re
import signal
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import typer

from xlagraph.cli.output.declared_options import flag, option
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import ask_password, catalogue
from xlagraph.cli.output.limits import parse_bytes_limit
from xlagraph.cli.output.messages import note, problem
from xlagraph.cli.output.shared_options import GraphOptions
from xlagraph.presentation.byte_sizes import human_bytes

if TYPE_CHECKING:
    from socket import socket

    import uvicorn

TOKEN: Final = "XLAGRAPH_TOKEN"  # noqa: S105 - its name
_ROOT_PATH: Final = re.compile(r"(?:/[\w.~-]+)+", re.ASCII)


_LEAST_MEMORY: Final = 256 << 20
"""Bytes; a process uses some 150 MiB before its first read."""


def _memory_option() -> str:
    """Return the option with the memory of one read."""
    return option("Memory limit of one read: 512MiB, 4GiB.", default="2GiB", metavar="SIZE")


def _parse_memory(text: str) -> int:
    size_bytes = parse_bytes_limit(text)
    if size_bytes < _LEAST_MEMORY:
        raise typer.BadParameter(
            f"expected --memory of at least {human_bytes(_LEAST_MEMORY)}, found {text}"
        )
    return size_bytes


@dataclass(frozen=True)
class ServeOptions(GraphOptions):
    """Options of `serve`."""

    host: str = option(
        f"Address to listen on; if not of this machine, {TOKEN} must be set.",
        default="127.0.0.1",
        metavar="ADDRESS",
    )
    port: int = option("Port; 0 for any free port.", default=0, least=0, most=65535)
    open: bool = flag("Open the page in the browser.")
    root_path: str = option(
        "Path prefix that a proxy adds and strips.", default="", metavar="/PATH"
    )
    proxy_name: list[str] | None = option(
        f"Host name of a proxy; {TOKEN} must be set; repeatable.", metavar="NAME"
    )
    memory: str = _memory_option()
    access_log: bool = flag("Write a line for each request on stderr.")


@dataclass(frozen=True)
class AssistantOptions(GraphOptions):
    """Options of `mcp`."""

    memory: str = _memory_option()


def serve(options: ServeOptions) -> None:
    """Serve the graph as a web page and a JSON API.

    The first line on stdout is its address. It only reads; an ingest can run at the same time.

    Example: xlagraph serve --open
    """
    try:
        from xlagraph.serve import Access, create_app
        from xlagraph.serve.http_server import LogLines, server_of
    except ModuleNotFoundError as error:
        raise UsageError(f"serve needs {error.name}: pip install 'xlagraph[serve]'") from error
    if options.root_path and not _ROOT_PATH.fullmatch(options.root_path):
        raise UsageError(f"expected --root-path such as /xlagraph, found {options.root_path}")
    try:
        access = Access.on_address(options.host, os.environ.get(TOKEN), options.proxy_name or ())
    except ValueError as error:
        raise UsageError(f"{error}: set {TOKEN}, or omit the option") from None
    log = LogLines(sys.stderr.fileno()) if options.access_log else None
    app = create_app(
        options.graph,
        access=access,
        catalogue=catalogue(),
        ask_password=ask_password,
        memory_bytes=_parse_memory(options.memory),
        log_access=None if log is None else log.write,
    )
    note(f"graph: {app.state.location}")
    listener = _listen(options.host, options.port)
    name = f"[{options.host}]" if ":" in options.host else options.host
    address = f"http://{name}:{listener.getsockname()[1]}"
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    note("Ctrl-C ends it")
    if options.open:
        import webbrowser

        webbrowser.open(address)
    _run_until_interrupted(server_of(app, options.root_path), listener)
    if log is not None:
        log.close()


def mcp(options: AssistantOptions) -> None:
    """Serve the graph, read-only, to an assistant over MCP.

    The assistant starts this command: put it into its configuration, with the graph to read.

    Example: xlagraph mcp --graph xlagraph.lbug
    """
    try:
        from xlagraph.serve.mcp_server import create_server
        from xlagraph.serve.readers.workers import Workers
    except ModuleNotFoundError as error:
        raise UsageError(f"mcp needs {error.name}: pip install 'xlagraph[mcp]'") from error
    workers = Workers(options.graph, catalogue(), memory_bytes=_parse_memory(options.memory))
    note(f"graph: {workers.location}")
    # Python would wait for the thread of the SDK that reads standard input
    signal.signal(signal.SIGINT, lambda *_: os._exit(ExitCode.INTERRUPTED))
    try:
        create_server(workers).run("stdio")
    except* BrokenPipeError:  # the assistant has exited
        pass


def _run_until_interrupted(server: "uvicorn.Server", listener: "socket") -> None:
    try:
        server.run([listener])
    except KeyboardInterrupt:
        problem("interrupted")
        sys.stderr.flush()
        os._exit(ExitCode.INTERRUPTED)  # the reader processes end with this one


def _listen(host: str, port: int) -> "socket":
    from xlagraph.serve.http_server import listen

    try:
        return listen(host, port)
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
