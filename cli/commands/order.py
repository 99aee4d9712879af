"""`xlagraph order`: what the order of instructions costs, and which values wait for it."""

from functools import partial
from typing import Annotated

import typer

from xlagraph.cli.output.destination import write_record
from xlagraph.cli.output.graph_and_queries import CompilationArgument, open_graph_of
from xlagraph.cli.output.messages import note
from xlagraph.cli.output.shared_options import RowOptions


def order(
    options: RowOptions,
    name: CompilationArgument = None,
    moves: Annotated[
        int, typer.Option(min=0, help="Search for at most this many moves of instructions.")
    ] = 5,
    solve: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Search for the smallest temporary block with OR-Tools, for this long at most;"
            " needs pip install 'xlagraph[solver]'.",
        ),
    ] = 0,
) -> None:
    """Show what the order of instructions costs.

    Values that wait at the peak because of the order are listed with what delays them.

    Example: xlagraph order baseline
    """
    from xlagraph.cli.summaries.order import write_order
    from xlagraph.planner.edits.order_cost import order_cost
    from xlagraph.planner.edits.order_result import order_cells

    with open_graph_of(options) as graph:
        result = order_cost(graph, name, moves=moves, solve=solve)
    for text in result.notes:
        note(text)
    write_record(order_cells(result), options, partial(write_order, result))
