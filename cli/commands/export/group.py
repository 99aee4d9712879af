"""`xlagraph export`: files for other tools, one command for each format."""

from collections.abc import Callable, Sequence
from typing import Final

import typer

from xlagraph.cli.commands.export.neo4j import neo4j
from xlagraph.cli.commands.export.tables import TABLE_COMMANDS
from xlagraph.cli.commands.export.viewers import file_command, xprof
from xlagraph.cli.output.declared_options import QuickCommand, QuickGroup, spread_options
from xlagraph.exports.file_formats import FILE_FORMATS

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
    *map(file_command, FILE_FORMATS),
    xprof,
    *TABLE_COMMANDS,
    neo4j,
)
for command in COMMANDS:
    export_app.command(cls=QuickCommand)(spread_options(command))
