"""`xlagraph export parquet` and `csv`: the tables of the graph, for DuckDB and similar tools."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xlagraph.cli.output.graph_and_queries import complete_run, open_graph_of
from xlagraph.cli.output.messages import counted, note
from xlagraph.cli.output.shared_options import GraphOptions, parse_path

if TYPE_CHECKING:
    from xlagraph.exports import TableFormat

FolderOption = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Folder for the TABLE/RUN files; files of the same run are replaced.",
        parser=parse_path,
    ),
]
RunsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--run",
        help="A run to export, repeatable; all by default.",
        autocompletion=complete_run,
    ),
]
NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="RUN", help="The same as --run.", autocompletion=complete_run),
]


def parquet(
    options: GraphOptions,
    output: FolderOption,
    names: NamesArgument = None,
    run: RunsOption = None,
) -> None:
    """Write the tables of the graph as Parquet: a file for each table and run.

    Example: xlagraph export parquet -o tables/
    """
    from xlagraph.exports import TableFormat

    _write(options, output, [*(names or ()), *(run or ())], TableFormat.PARQUET)


def csv(
    options: GraphOptions,
    output: FolderOption,
    names: NamesArgument = None,
    run: RunsOption = None,
) -> None:
    """Write the tables of the graph as CSV: a file for each table and run.

    Example: xlagraph export csv baseline -o tables/
    """
    from xlagraph.exports import TableFormat

    _write(options, output, [*(names or ()), *(run or ())], TableFormat.CSV)


def _write(
    options: GraphOptions, output: Path, names: Sequence[str], format_: "TableFormat"
) -> None:
    from xlagraph.exports import write_tables
    from xlagraph.queries import EmptyGraph, find_run
    from xlagraph.queries.runner.compilations import run_names

    with open_graph_of(options) as graph:
        named = [find_run(graph, name) for name in names]
        runs = sorted(set(named or run_names(graph)))
        if not runs:
            raise EmptyGraph
        write_tables(graph, runs, output, format_)
    note(f"wrote the tables of {counted(len(runs), 'run')} below {output}")
