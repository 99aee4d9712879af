"""`xlagraph export`: files for other tools, one command for each format."""

import typer

from xlagraph.cli.commands.export.neo4j import neo4j
from xlagraph.cli.commands.export.tables import csv, parquet
from xlagraph.cli.commands.export.viewers import perfetto, pprof, speedscope, xprof
from xlagraph.cli.output.declared_options import QuickCommand, QuickGroup, spread_options

export_app = typer.Typer(
    cls=QuickGroup,
    add_completion=False,
    no_args_is_help=True,
    subcommand_metavar="FORMAT",
    rich_markup_mode=None,
)


def export() -> None:
    """Write files that other tools open: pprof, speedscope, Perfetto, XProf, DuckDB, Neo4j.

    Example: xlagraph export pprof -c baseline -o baseline.pb.gz
    """


export_app.callback()(export)
for command in (pprof, speedscope, perfetto, xprof, parquet, csv, neo4j):
    export_app.command(cls=QuickCommand)(spread_options(command))
