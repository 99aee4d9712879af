"""`xlagraph compilations`: totals and peaks, one row each."""

from typing import Annotated

import typer

from xlagraph.cli.options.completion import complete_run
from xlagraph.cli.options.graph import opened
from xlagraph.cli.options.recurring import RowOptions
from xlagraph.cli.output.destination import write_answer


def compilations(
    options: RowOptions,
    run: Annotated[
        str, typer.Argument(help="Only those of this run.", autocompletion=complete_run)
    ] = "",
) -> None:
    """List the compilations with their totals and peaks, the most reserved bytes first.

    Example: xlagraph compilations baseline --format csv
    """
    from xlagraph.queries import run as run_query
    from xlagraph.queries.selection.runs import find_run

    with opened(options) as graph:
        if run:
            find_run(graph, run)
        write_answer(run_query(graph, "overview/compilations", run=run), options)
