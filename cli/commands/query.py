"""`xlagraph query`: the catalogue as a group of commands, read on demand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from xlagraph.cli.commands.canned import canned_command, note_guess
from xlagraph.cli.output.declared_options import (
    QuickGroup,
    flag,
    option,
    pass_on_options,
    spread_options,
)
from xlagraph.cli.output.destination import OutputError, open_output, write_rows
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.formats import Format
from xlagraph.cli.output.graph_and_queries import catalogue, open_graph_of, query_folders
from xlagraph.cli.output.messages import note, problem
from xlagraph.cli.output.shared_options import CatalogueOptions, browser_url_option
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
class GroupOptions(CatalogueOptions):
    """Options before the ID."""

    queries: list[Path] | None = option(
        "Your own queries, DIR/theme/noun.cypher; also XLAGRAPH_QUERIES.",
        metavar="DIR",
        is_eager=True,  # the help lists these queries
    )
    """Folders of user queries; read by the group, which lists them."""
    check: Path | None = option("Check the queries below DIR without running them.", metavar="DIR")
    saved_scripts: Path | None = option(
        "Write all queries as saved scripts, to be dropped onto Neo4j Browser.", metavar="FILE.zip"
    )
    browser_style: bool = flag(
        "Print links that load captions, colours and sizes into Neo4j Browser."
    )
    browser_url: str | None = browser_url_option()


def query(context: typer.Context, options: GroupOptions) -> None:
    """List the canned queries, or run the one with the given ID.

    Example: xlagraph query peak/contributors --limit 10
    """
    pass_on_options(context)
    if options.check is not None:
        _check(options.check)
    elif options.saved_scripts is not None:
        _write_scripts(_catalogue_of(context).values(), options.saved_scripts)
    elif options.browser_style:
        with open_output(options) as stream:
            stream.writelines(f"{link}\n" for link in _style_links(options))
    elif context.invoked_subcommand is None:
        _write_list(_catalogue_of(context).values(), options)


def _write_list(queries: "Iterable[Query]", options: CatalogueOptions) -> None:
    if options.format.value not in {format_.value for format_ in Format}:
        raise UsageError(
            f"--format {options.format} draws the picture of a query, but no query is given:"
            f" xlagraph query graph/peak --format {options.format}"
        )
    rows = [(query.id, query.answers) for query in queries]
    write_rows(COLUMNS, rows, options)


def _check(directory: Path) -> None:
    from xlagraph.queries.catalogue.query_check import check_queries

    problems = check_queries(directory)
    for text in problems:
        problem(text)
    if problems:
        raise typer.Exit(ExitCode.FAILED)
    note(f"no problem with the queries below {directory}")


def _style_links(options: GroupOptions) -> list[str]:
    """Return the links that load the styles and stop Browser from adding relationships."""
    from xlagraph.graph import GraphMissing, GraphUnreachable
    from xlagraph.graph.neo4j.browser import browser_page
    from xlagraph.graph.neo4j.browser_style import setup_commands

    page = options.browser_url
    if page is None:
        try:
            with open_graph_of(options) as graph:
                page = graph.find_browser_page()
        except (GraphMissing, GraphUnreachable) as error:
            note(f"using the usual address of Neo4j Browser: {error}")
    browser = browser_page(options.graph, page=page)
    note_guess(browser)
    return [browser.link(command) for command in setup_commands()]


def _write_scripts(queries: "Iterable[Query]", path: Path) -> None:
    """Write the queries as saved scripts, a folder for each theme."""
    import zipfile

    from xlagraph.queries.catalogue.literals import saved_scripts

    scripts = saved_scripts(queries)
    try:
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in scripts.items():
                # without times, so that the same queries make the same file
                archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from error
    note(f"{len(scripts)} scripts in {path}: drop it onto the window of Neo4j Browser")


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
