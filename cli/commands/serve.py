"""`xlagraph serve`: the pages and the API over a graph."""

import os
import re
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import ask_password
from xlagraph.cli.output.messages import note, problem
from xlagraph.cli.output.read_memory import DEFAULT_MEMORY, MemoryOption, parse_memory
from xlagraph.cli.output.shared_options import GraphOptions

if TYPE_CHECKING:
    from socket import socket

    import uvicorn

TOKEN: Final = "XLAGRAPH_TOKEN"  # noqa: S105 - its name
_ROOT_PATH: Final = re.compile(r"(?:/[\w.~-]+)+", re.ASCII)


def serve(
    options: GraphOptions,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help=f"Address to listen on; if not of this machine, {TOKEN} must be set.",
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free port.")] = 0,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    root_path: Annotated[
        str,
        typer.Option(metavar="/PATH", help="Path prefix that a proxy adds and strips."),
    ] = "",
    proxy_name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"Host name of a proxy; {TOKEN} must be set; repeatable.",
        ),
    ] = None,
    memory: MemoryOption = DEFAULT_MEMORY,
    access_log: Annotated[
        bool,
        typer.Option("--access-log", help="Write a line for each request on stderr."),
    ] = False,
) -> None:
    """Serve the graph to a browser: runs, compilations, comparisons, queries; and a JSON API.

    The first line on stdout is its address. It only reads; an ingest can run at the same time.

    Example: xlagraph serve --open
    """
    try:
        from xlagraph.serve import Access, create_app
        from xlagraph.serve.timed_connections import server_of
    except ModuleNotFoundError as error:
        raise UsageError(f"serve needs {error.name}: pip install 'xlagraph[serve]'") from error
    from xlagraph.cli.output.graph_and_queries import catalogue

    if root_path and not _ROOT_PATH.fullmatch(root_path):
        raise UsageError(f"expected --root-path such as /xlagraph, found {root_path}")
    try:
        access = Access.on_address(host, os.environ.get(TOKEN), proxy_name or ())
    except ValueError as error:
        raise UsageError(f"{error}: set {TOKEN}, or omit the option") from None
    app = create_app(
        options.graph,
        access=access,
        catalogue=catalogue(),
        ask_password=ask_password,
        memory_bytes=parse_memory(memory),
        log_access=_write_line if access_log else None,
    )
    note(f"graph: {app.state.location}")
    listener = _listen(host, port)
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{listener.getsockname()[1]}"
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    note("Ctrl-C ends it")
    if open_:
        import webbrowser

        webbrowser.open(address)
    _run_until_interrupted(server_of(app, root_path), listener)


def _run_until_interrupted(server: "uvicorn.Server", listener: "socket") -> None:
    try:
        server.run([listener])
    except KeyboardInterrupt:
        problem("interrupted")
        sys.stderr.flush()
        os._exit(ExitCode.INTERRUPTED)  # the reader processes end with this one


def _listen(host: str, port: int) -> "socket":
    from xlagraph.serve.timed_connections import listen

    try:
        return listen(host, port)
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error


def _write_line(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
