"""`xlagraph mcp`: the graph for assistants, by the Model Context Protocol."""

import os
import signal

from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.messages import note
from xlagraph.cli.output.read_memory import DEFAULT_MEMORY, MemoryOption, parse_memory
from xlagraph.cli.output.shared_options import GraphOptions


def mcp(
    options: GraphOptions,
    memory: MemoryOption = DEFAULT_MEMORY,
) -> None:
    """Serve the graph to an assistant on standard input and output; it only reads.

    The assistant starts this command: put it into its configuration, with the graph to read.

    Example: xlagraph mcp --graph xlagraph.lbug
    """
    try:
        from xlagraph.serve.mcp_server import create_server
        from xlagraph.serve.readers.workers import Workers
    except ModuleNotFoundError as error:
        raise UsageError(f"mcp needs {error.name}: pip install 'xlagraph[mcp]'") from error
    from xlagraph.cli.output.graph_and_queries import catalogue

    workers = Workers(options.graph, catalogue(), memory_bytes=parse_memory(memory))
    note(f"graph: {workers.location}")
    # Python would wait for the thread of the SDK that reads standard input
    signal.signal(signal.SIGINT, lambda *_: os._exit(ExitCode.INTERRUPTED))
    try:
        create_server(workers).run("stdio")
    except* BrokenPipeError:  # the assistant has exited
        pass
