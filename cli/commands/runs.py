"""`xlagraph runs` and `xlagraph compilations`: the contents of the graph, names and tags."""

from dataclasses import dataclass
from typing import Annotated

import typer

from xlagraph.cli.output.declared_options import (
    QuickCommand,
    QuickGroup,
    pass_on_options,
    spread_options,
)
from xlagraph.cli.output.destination import first_rows, write_answer, write_rows
from xlagraph.cli.output.graph_and_queries import complete_run, open_graph_of
from xlagraph.cli.output.messages import note
from xlagraph.cli.output.shared_options import (
    GraphOptions,
    RowOptions,
    limit_option,
    parse_tags,
)

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="Name of the run.", autocompletion=complete_run)
]


@dataclass(frozen=True)
class LimitedRowOptions(RowOptions):
    """Options of a list."""

    limit: int | None = limit_option()


runs_app = typer.Typer(
    cls=QuickGroup, add_completion=False, invoke_without_command=True, rich_markup_mode=None
)


def runs(context: typer.Context, options: LimitedRowOptions) -> None:
    """List the runs, or rename or tag one.

    Example: xlagraph runs
    """
    pass_on_options(context)
    if context.invoked_subcommand is not None:
        return
    from xlagraph.queries.runner.compilations import list_runs

    with open_graph_of(options) as graph:
        result = list_runs(graph)
    write_rows(result.columns, first_rows(result.rows, options.limit, options.format), options)


def rename(
    options: GraphOptions,
    old: RunArgument,
    new: Annotated[str, typer.Argument(metavar="NEW", help="The new name.")],
) -> None:
    """Rename a run; the keys of its compilations change too.

    Example: xlagraph runs rename run-17 baseline
    """
    from xlagraph.graph import rename_run
    from xlagraph.queries.runner.compilations import find_run

    with open_graph_of(options) as graph:
        rename_run(graph, find_run(graph, old), new)
        note(f"renamed {old} to {new}")


def tag(
    options: GraphOptions,
    run: RunArgument,
    tags: Annotated[list[str], typer.Argument(metavar="NAME=VALUE", help="NAME= removes a tag.")],
) -> None:
    """Tag a run with its commit, job or device. Other tags are unchanged.

    Example: xlagraph runs tag baseline commit=3f2a1c device=v5e
    """
    from xlagraph.graph import tag_run
    from xlagraph.queries.runner.compilations import find_run

    values = parse_tags(tags)
    with open_graph_of(options) as graph:
        tag_run(graph, find_run(graph, run), {name: value or None for name, value in values})
        note(f"tagged {run}")


def compilations(
    options: LimitedRowOptions,
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Run to list; all runs by default.", autocompletion=complete_run
        ),
    ] = "",
) -> None:
    """List compilations, sorted by reserved bytes, descending.

    Example: xlagraph compilations baseline --format csv
    """
    from xlagraph.queries import run as run_query

    with open_graph_of(options) as graph:
        answer = run_query(graph, "overview/compilations", run=run, limit=0)
    write_answer(answer, options, limit=options.limit)


runs_app.callback()(spread_options(runs))
runs_app.command(cls=QuickCommand)(spread_options(rename))
runs_app.command(cls=QuickCommand)(spread_options(tag))
