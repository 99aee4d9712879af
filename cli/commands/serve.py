"""`xlagraph serve`: the pages and the API over a graph."""

import os
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from xlagraph.cli.options.graph_and_queries import ask_password
from xlagraph.cli.options.shared_options import GraphOptions
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.messages import note, problem

if TYPE_CHECKING:
    from socket import socket

    import uvicorn

TOKEN: Final = "XLAGRAPH_TOKEN"  # noqa: S105 - its name


def serve(
    options: GraphOptions,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help=f"Where to listen; beyond this machine {TOKEN} must be set."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 0,
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Serve the graph to a browser: runs, compilations, comparisons, queries; and a JSON API.

    The first line on stdout is its address. It only reads, and an ingest goes on beside it.

    Example: xlagraph serve --open
    """
    try:
        import uvicorn

        from xlagraph.serve import Access, create_app
    except ModuleNotFoundError as error:
        raise UsageError(f"serve needs {error.name}: pip install 'xlagraph[serve]'") from error
    from xlagraph.cli.options.graph_and_queries import catalogue

    try:
        access = Access.on_address(host, os.environ.get(TOKEN))
    except ValueError:
        raise UsageError(
            f"--host {host} can be reached from elsewhere: set {TOKEN}, or leave it"
        ) from None
    app = create_app(options.graph, access=access, catalogue=catalogue(), ask_password=ask_password)
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
    config = uvicorn.Config(
        app,
        log_level="critical",  # what is cut off at the end is not an error
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=0,
    )
    _run_until_interrupted(uvicorn.Server(config), listener)


def _run_until_interrupted(server: "uvicorn.Server", listener: "socket") -> None:
    try:
        server.run([listener])
    except KeyboardInterrupt:
        # Python would wait for the threads of statements that still run
        problem("interrupted")
        sys.stderr.flush()
        os._exit(ExitCode.INTERRUPTED)


def _listen(host: str, port: int) -> "socket":
    import socket

    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
