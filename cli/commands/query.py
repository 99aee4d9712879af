"""`xlagraph query`: the catalogue as a group of commands, read on demand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer.core import TyperCommand, TyperGroup

from xlagraph.cli.commands.browser_setup import style_links, write_scripts
from xlagraph.cli.commands.canned import canned_command
from xlagraph.cli.output.destination import open_output, write_rows
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.formats import Format
from xlagraph.cli.output.graph_and_queries import catalogue, query_folders
from xlagraph.cli.output.messages import note, problem
from xlagraph.cli.output.shared_options import (
    BrowserUrlOption,
    CatalogueOptions,
    RowOptions,
    pass_on_options,
    spread_options,
)
from xlagraph.cli.output.typer_startup import take_defaults
from xlagraph.queries.errors import CatalogueError, QueryError

if TYPE_CHECKING:
    from xlagraph.queries.catalogue.query_files import Query

COLUMNS: Final = ("id", "question")
_QUERIES: Final = "--queries"


def _catalogue_of(context: typer.Context) -> Mapping[str, "Query"]:
    found: Mapping[str, Query] | None = context.meta.get(__name__)
    if found is None:
        silent = (lambda _: None) if context.resilient_parsing else None
        found = catalogue(context.params.get("queries") or (), silent)
        context.meta[__name__] = found
    return found


class QueryGroup(TyperGroup):
    """The canned queries; each becomes a command if its id is typed."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Return no arguments if none are given, without converting defaults."""
        if args:
            return super().parse_args(ctx, _queries_first(args))
        take_defaults(ctx, self.params)
        return []

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Return the ids of the queries."""
        try:
            return list(_catalogue_of(ctx))
        except QueryError:
            if ctx.resilient_parsing:  # completion must not print messages
                return []
            raise

    def get_command(self, ctx: typer.Context, cmd_name: str) -> TyperCommand | None:  # type: ignore[override]
        """Return the command of a query; raise UnknownQuery with similar ids."""
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


@dataclass(frozen=True, slots=True)
class GroupOptions(CatalogueOptions):
    """Options before the ID, in reverse order of the help."""

    browser_url: BrowserUrlOption = None
    browser_style: Annotated[
        bool,
        typer.Option(
            "--browser-style",
            help="Print links that load captions, colours and sizes into Neo4j Browser.",
        ),
    ] = False
    saved_scripts: Annotated[
        Path | None,
        typer.Option(
            "--saved-scripts",
            metavar="FILE.zip",
            help="Write all queries as saved scripts, to be dropped onto Neo4j Browser.",
        ),
    ] = None
    check: Annotated[
        Path | None,
        typer.Option(
            "--check", metavar="DIR", help="Check the queries below DIR without running them."
        ),
    ] = None
    queries: Annotated[
        list[Path] | None,
        typer.Option(
            _QUERIES,
            metavar="DIR",
            is_eager=True,  # the help lists these queries
            help="Your own queries, DIR/theme/noun.cypher; also XLAGRAPH_QUERIES.",
        ),
    ] = None
    """Folders of user queries; read by the group, which lists them."""


def query(context: typer.Context, options: GroupOptions) -> None:
    """List the canned queries, or run the one with the given ID.

    Example: xlagraph query peak/contributors --limit 10
    """
    pass_on_options(context)
    if options.check is not None:
        _check(options.check)
    elif options.saved_scripts is not None:
        write_scripts(_catalogue_of(context).values(), options.saved_scripts)
    elif options.browser_style:
        with open_output(options) as stream:
            stream.writelines(f"{link}\n" for link in style_links(options, options.browser_url))
    elif context.invoked_subcommand is None:
        _write_list(_catalogue_of(context).values(), options)


def _write_list(queries: "Iterable[Query]", options: CatalogueOptions) -> None:
    if options.format.value not in {format_.value for format_ in Format}:
        raise UsageError(
            f"--format {options.format} draws the picture of a query, but no query is given:"
            f" xlagraph query graph/peak --format {options.format}"
        )
    rows = [(query.id, query.answers) for query in queries]
    target = RowOptions(
        format=Format(options.format),
        output=options.output,
        columns=options.columns,
        wide=options.wide,
    )
    write_rows(COLUMNS, rows, target)


def _check(directory: Path) -> None:
    from xlagraph.queries.catalogue.query_check import check_queries

    problems = check_queries(directory)
    for text in problems:
        problem(text)
    if problems:
        raise typer.Exit(ExitCode.FAILED)
    note(f"no problem with the queries below {directory}")


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
    name="query",
    cls=QueryGroup,
    invoke_without_command=True,
    subcommand_metavar="[ID] [--PARAM VALUE]...",
    rich_markup_mode=None,
)
query_app.callback()(spread_options(query))
