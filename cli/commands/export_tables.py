"""`xlagraph export parquet` and `csv`: the graph's tables, for DuckDB and similar tools."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer

from xlagraph.cli.output.graph_and_queries import complete_run, open_graph_of
from xlagraph.cli.output.messages import counted, note
from xlagraph.cli.output.shared_options import GraphOptions, parse_path

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
        hidden=True,  # the argument is the usual way to name it
        autocompletion=complete_run,
    ),
]
NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN", help="A run to export; all by default.", autocompletion=complete_run
    ),
]


def _table_command(name: str, shown: str, example: str) -> Callable[..., None]:
    def write(
        options: GraphOptions,
        output: FolderOption,
        names: NamesArgument = None,
        run: RunsOption = None,
    ) -> None:
        from xlagraph.exports import TableFormat, write_tables
        from xlagraph.queries import EmptyGraph, find_run
        from xlagraph.queries.runner.compilations import run_names

        with open_graph_of(options) as graph:
            named = [find_run(graph, each) for each in (*(names or ()), *(run or ()))]
            runs = sorted(set(named or run_names(graph)))
            if not runs:
                raise EmptyGraph
            write_tables(graph, runs, output, TableFormat(name))
        note(f"wrote the tables of {counted(len(runs), 'run')} below {output}")

    text = f"Write the tables of the graph as {shown}: a file for each table and run."
    write.__name__, write.__doc__ = name, f"{text}\n\nExample: xlagraph export {example}"
    return write


TABLE_COMMANDS: Final = (
    _table_command("parquet", "Parquet", "parquet -o tables/"),
    _table_command("csv", "CSV", "csv baseline -o tables/"),
)
