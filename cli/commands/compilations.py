"""`xlagraph compilations`: totals and peaks, one row each."""

from typing import Annotated

import typer

from xlagraph.cli.output.destination import first_rows, note_no_rows, write_rows
from xlagraph.cli.output.graph_and_queries import complete_run, open_graph_of
from xlagraph.cli.output.messages import note
from xlagraph.cli.output.shared_options import LimitOption, RowOptions


def compilations(
    options: RowOptions,
    run: Annotated[
        str, typer.Argument(help="Run to list; all runs by default.", autocompletion=complete_run)
    ] = "",
    limit: LimitOption = None,
) -> None:
    """List the compilations with their totals and peaks, the most reserved bytes first.

    Example: xlagraph compilations baseline --format csv
    """
    from xlagraph.queries import run as run_query

    with open_graph_of(options) as graph:
        answer = run_query(graph, "overview/compilations", run=run, limit=0)
    for text in answer.notes:
        note(text)
    if not answer.result.rows:
        note_no_rows(answer, options.format)
    write_rows(
        answer.result.columns, first_rows(answer.result.rows, limit, options.format), options
    )
