"""`xlagraph query`: the catalogue as a group of commands, read on demand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from xlagraph.cli.commands.canned import canned_command
from xlagraph.cli.commands.catalogue import MaintenanceOptions, is_task_done
from xlagraph.cli.output.declared_options import (
    QuickGroup,
    option,
    pass_on_options,
    spread_options,
)
from xlagraph.cli.output.destination import STDOUT, write_rows
from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.formats import Format
from xlagraph.cli.output.graph_and_queries import catalogue, query_folders
from xlagraph.cli.output.shared_options import CatalogueOptions
from xlagraph.queries.errors import CatalogueError, QueryError

if TYPE_CHECKING:
    from typer._click.core import Command, Context

    from xlagraph.queries.catalogue.query_files import Query

COLUMNS: Final = ("id", "question")
_QUERIES: Final = "--queries"


def _catalogue_of(context: "Context") -> Mapping[str, "Query"]:
    found: Mapping[str, Query] | None = context.meta.get(__name__)
    if found is None:
        silent = (lambda _: None) if context.resilient_parsing else None
        found = catalogue(context.params.get("queries") or (), silent)
        context.meta[__name__] = found
    return found


class QueryGroup(QuickGroup):
    """The canned queries; each becomes a command if its id is typed."""

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Return the arguments after the options."""
        return super().parse_args(ctx, _queries_first(args))

    def list_commands(self, ctx: "Context") -> list[str]:
        """Return the ids of the queries."""
        try:
            return list(_catalogue_of(ctx))
        except QueryError:
            if ctx.resilient_parsing:  # completion must not print messages
                return []
            raise

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
        """Return a query's command; raise UnknownQuery with similar ids."""
        if ctx.resilient_parsing and cmd_name not in self.list_commands(ctx):
            return None
        from xlagraph.queries.runner.run import find_query

        found = _catalogue_of(ctx)
        for folder in query_folders(ctx.params.get("queries") or ()):
            if cmd_name not in found and (folder / f"{cmd_name}.cypher").is_file():
                raise CatalogueError(
                    f"{cmd_name} cannot run; fix its file as the messages above say"
                )
        return canned_command(find_query(cmd_name, found))


@dataclass(frozen=True)
class GroupOptions(MaintenanceOptions, CatalogueOptions):
    """Options before the ID."""

    queries: list[Path] | None = option(
        "Your own queries, DIR/theme/noun.cypher; also XLAGRAPH_QUERIES.",
        metavar="DIR",
        is_eager=True,  # the help lists these queries
    )
    """Folders of user queries; read by the group, which lists them."""
    # these moved to `xlagraph catalogue`, and stay for scripts that use them here
    check: Path | None = option("See `catalogue`.", is_hidden=True)
    saved_scripts: Path | None = option("See `catalogue`.", is_hidden=True)
    browser_style: bool = option("See `catalogue`.", default=False, is_hidden=True)
    browser_url: str | None = option("See `catalogue`.", is_hidden=True)


def query(context: typer.Context, options: GroupOptions) -> None:
    """List the canned queries, or run the one with the given ID.

    Example: xlagraph query peak/contributors --limit 10
    """
    pass_on_options(context)
    is_done = is_task_done(options, options.output or STDOUT)
    if not is_done and context.invoked_subcommand is None:
        _write_list(_catalogue_of(context).values(), options)


def _write_list(queries: "Iterable[Query]", options: CatalogueOptions) -> None:
    if options.format.value not in {format_.value for format_ in Format}:
        raise UsageError(
            f"--format {options.format} draws the picture of a query, but no query is given:"
            f" xlagraph query graph/peak --format {options.format}"
        )
    rows = [(query.id, query.answers) for query in queries]
    write_rows(COLUMNS, rows, options)


def _queries_first(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with `--queries DIR` moved to the front; it may follow the ID."""
    first: list[str] = []
    others = list(arguments)
    for index in reversed(range(len(others))):
        if others[index] == _QUERIES and index + 1 < len(others):
            first[:0] = others[index : index + 2]
            del others[index : index + 2]
        elif others[index].startswith(f"{_QUERIES}="):
            first[:0] = [others.pop(index)]
    return [*first, *others]


query_app = typer.Typer(
    cls=QueryGroup,
    add_completion=False,
    invoke_without_command=True,
    subcommand_metavar="[ID] [--PARAM VALUE]...",
    rich_markup_mode=None,
)
query_app.callback()(spread_options(query))
