"""`xlagraph mcp`: the graph for assistants, by the Model Context Protocol."""

from xlagraph.cli.options.shared_options import GraphOptions
from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.messages import note


def mcp(options: GraphOptions) -> None:
    """Serve the graph to an assistant on standard input and output; it only reads.

    An assistant starts this itself: give it the command with the graph to read.

    Example: xlagraph mcp --graph xlagraph.lbug
    """
    try:
        from xlagraph.serve.mcp_server import create_server
    except ModuleNotFoundError as error:
        raise UsageError(f"mcp needs {error.name}: pip install 'xlagraph[mcp]'") from error
    from xlagraph.cli.options.graph_and_queries import catalogue
    from xlagraph.serve.graph_pool import GraphPool

    pool = GraphPool(options.graph)
    note(f"graph: {pool.location}")
    create_server(pool, catalogue()).run("stdio")
