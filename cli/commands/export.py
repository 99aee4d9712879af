"""`xlagraph export`: files for other tools, one command for each format."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from xlagraph.cli.commands.export_neo4j import neo4j
from xlagraph.cli.output.declared_options import QuickCommand, QuickGroup, spread_options
from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.graph_and_queries import (
    complete_compilation,
    complete_run,
    open_graph_of,
)
from xlagraph.cli.output.messages import note
from xlagraph.cli.output.shared_options import GraphOptions, parse_path
from xlagraph.exports.file_formats import FILE_FORMATS, FileFormat
from xlagraph.presentation.byte_sizes import counted

if TYPE_CHECKING:
    from xlagraph.graph import Graph

NameArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="RUN|COMPILATION",
        help="A key, a unique part of one, or a run; by default the largest.",
        autocompletion=complete_compilation,
    ),
]
HiddenName = Annotated[str | None, typer.Option("--compilation", "-c", hidden=True)]
"""Another spelling of the argument, for scripts."""
FileOption = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FILE", help="The file to write.", parser=parse_path),
]
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


def _file_command(format_: FileFormat) -> Callable[..., None]:
    """Return the command that writes a compilation in a format."""

    def write(
        options: GraphOptions,
        output: FileOption,
        name: NameArgument = None,
        compilation: HiddenName = None,
    ) -> None:
        wanted = _either(name, compilation)
        with open_graph_of(options) as graph:
            format_.write(graph, _found(graph, wanted), output)
        note(f"wrote {output}")

    example = f"Example: xlagraph export {format_.name} baseline -o {format_.example}"
    write.__name__, write.__doc__ = format_.name, f"{format_.help}\n\n{example}"
    return write


def xprof(
    options: GraphOptions,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="The folder for xprof.", parser=parse_path
        ),
    ],
    name: NameArgument = None,
    compilation: HiddenName = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            help="Export all compilations of a run instead of one.",
            autocompletion=complete_run,
        ),
    ] = None,
) -> None:
    """Write a profile whose memory viewer shows the plan, for `xprof --logdir DIR`.

    Example: xlagraph export xprof --run baseline -o profiles/
    """
    compilation = _either(name, compilation)
    if run is not None and compilation is not None:
        raise UsageError("name a --run or a --compilation, not both")
    from xlagraph.exports import write_xprof
    from xlagraph.queries import find_run
    from xlagraph.queries.runner.compilations import compilations_of_run

    with open_graph_of(options) as graph:
        if run is None:
            session = _found(graph, compilation)
            keys: Sequence[str] = (session,)
        else:
            session = find_run(graph, run)
            keys = sorted(compilations_of_run(graph, session))
        path = write_xprof(graph, session, keys, output)
    note(f"wrote {counted(len(keys), 'compilation')} to {path}")


def _either(name: str | None, compilation: str | None) -> str | None:
    if name is not None and compilation is not None:
        raise UsageError("a compilation is given twice; give it once")
    return name if compilation is None else compilation


def _found(graph: "Graph", name: str | None) -> str:
    """Return the key of the compilation that a name selects, and note which it is."""
    from xlagraph.queries import find_compilation

    found = find_compilation(graph, name)
    if found.note:
        note(found.note)
    return found.key


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

    text = f"Write the graph's tables as {shown}: a file for each table and run."
    write.__name__, write.__doc__ = name, f"{text}\n\nExample: xlagraph export {example}"
    return write


export_app = typer.Typer(
    cls=QuickGroup,
    add_completion=False,
    no_args_is_help=True,
    subcommand_metavar="FORMAT",
    rich_markup_mode=None,
)


def export() -> None:
    """Write files that other tools open, such as Perfetto or Neo4j.

    Example: xlagraph export pprof baseline -o baseline.pb.gz
    """


export_app.callback()(export)
COMMANDS: Final[Sequence[Callable[..., None]]] = (
    *map(_file_command, FILE_FORMATS),
    xprof,
    _table_command("parquet", "Parquet", "parquet -o tables/"),
    _table_command("csv", "CSV", "csv baseline -o tables/"),
    neo4j,
)
for command in COMMANDS:
    export_app.command(cls=QuickCommand)(spread_options(command))
