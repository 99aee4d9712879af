"""`xlagraph order`: what the order of instructions costs, and which values wait for it."""

from typing import TYPE_CHECKING, Annotated

import typer

from xlagraph.cli.output.columns import choose_columns
from xlagraph.cli.output.destination import is_page, open_output, write_rows
from xlagraph.cli.output.formats import Format, write_object
from xlagraph.cli.output.graph_and_queries import complete_compilation, open_graph_of
from xlagraph.cli.output.messages import note
from xlagraph.cli.output.shared_options import RowOptions

if TYPE_CHECKING:
    from xlagraph.planner.edits.order_result import OrderCost


def order(
    options: RowOptions,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="COMPILATION",
            help="A key, a unique part of one, or a run; by default the one that reserves most.",
            autocompletion=complete_compilation,
        ),
    ] = None,
    moves: Annotated[
        int, typer.Option(min=0, help="Moves of instructions to look for, at most.")
    ] = 5,
) -> None:
    """Show what the order of instructions costs: in XLA's other orders, and in any order.

    Values that wait at the peak because of the order are listed with what delays them.

    Example: xlagraph order baseline
    """
    from xlagraph.planner.edits.order_cost import order_cost

    with open_graph_of(options) as graph:
        result = order_cost(graph, name, moves=moves)
    for text in result.notes:
        note(text)
    _write(result, options)


def _write(result: "OrderCost", options: RowOptions) -> None:
    from xlagraph.cli.summaries.order import write_order
    from xlagraph.planner.edits.order_result import order_cells

    cells = order_cells(result)
    columns, (row,) = choose_columns(tuple(cells), [tuple(cells.values())], options.columns)
    if is_page(options):
        with open_output(options) as stream:
            write_order(result, options.format, stream)
    elif options.format is Format.JSON:
        with open_output(options) as stream:
            write_object(dict(zip(columns, row, strict=True)), stream)
    else:
        write_rows(columns, [row], options)
