"""`xlagraph value`: show everything about one value on one page."""

from typing import Annotated

import typer

from xlagraph.cli.output.destination import is_page, open_output, write_rows
from xlagraph.cli.output.formats import WRITERS, Format
from xlagraph.cli.output.graph_and_queries import CompilationOption, open_graph_of
from xlagraph.cli.output.messages import note
from xlagraph.cli.output.shared_options import RowOptions


def value(
    options: RowOptions,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Label or another name: fusion.7, while.1{1}.",
        ),
    ],
    compilation: CompilationOption = None,
) -> None:
    """Show what produces and reads a value, and how long it is live.

    Example: xlagraph value fusion.7 --compilation jit_train_step
    """
    from xlagraph.cli.summaries.value import details_lines, write_page
    from xlagraph.planner.compilation.value_cells import value_cells
    from xlagraph.planner.compilation.value_details import value as value_details

    with open_graph_of(options) as graph:
        details = value_details(graph, name, compilation)
    if details.note:
        note(details.note)
    if is_page(options) and options.format is Format.TABLE:
        with open_output(options) as stream:
            write_page(details_lines(details), stream)
    elif is_page(options):
        with open_output(options) as stream:
            WRITERS[Format.MD](("part", "details"), details_lines(details), stream)
    else:
        cells = value_cells(details)
        write_rows(tuple(cells), [tuple(cells.values())], options)
