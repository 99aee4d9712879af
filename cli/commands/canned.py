"""The command of one canned query: its parameters are real options, with help and types."""

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer.core import TyperCommand
from typer.main import get_command

from xlagraph.cli.commands.statement_or_link import statement_or_link
from xlagraph.cli.output.destination import open_output, write_answer, write_picture
from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.graph_and_queries import complete_compilation, complete_run, open_graph_of
from xlagraph.cli.output.shared_options import (
    GraphOptions,
    PictureOptions,
    QueryOptions,
    spread_options,
)

if TYPE_CHECKING:
    from xlagraph.queries import Answer
    from xlagraph.queries.catalogue.declarations import Parameter, ParameterValue
    from xlagraph.queries.catalogue.query_files import Query

TYPES: Final[Mapping[str, type]] = {
    "STRING": str,
    "INTEGER": int,
    "FLOAT": float,
    "BOOLEAN": bool,
}
_COMPLETIONS: Final[Mapping[str, Callable[[typer.Context, str], list[str]]]] = {
    "compilation": complete_compilation,
    "run": complete_run,
    "runA": complete_run,
    "runB": complete_run,
}


# no parameter of a query has this name, because they are in camel case
_NAME: Final = inspect.Parameter(
    "compilation_name",
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        str | None,
        typer.Argument(
            metavar="COMPILATION|RUN",
            help="The same as --compilation; by default the largest reservation.",
            autocompletion=complete_compilation,
        ),
    ],
)


def canned_command(query: "Query") -> TyperCommand:
    """Return the command that runs a query."""

    def run_query(
        options: QueryOptions,
        plot: Annotated[
            bool | None,
            typer.Option(
                "--plot/--no-plot",
                help="Draw the bytes in the terminal (default: a series on a terminal).",
                show_default=False,
            ),
        ] = None,
        **parameters: str | float | bool | None,
    ) -> None:
        if plot and (options.columns is not None or options.wide):
            raise UsageError("--plot draws bytes: omit --columns and --wide")
        if plot and not any(column.is_bytes for column in query.columns):
            raise UsageError(f"{query.id} has no column of bytes to draw")
        given = _given_values(query, parameters, options)
        if not _wrote_instead(query, given, options):
            write_answer(_run(query, given, options), options, is_plotted=plot)

    def draw_query(options: PictureOptions, **parameters: str | float | bool | None) -> None:
        given = _given_values(query, parameters, options)
        if not _wrote_instead(query, given, options):
            write_picture(_run(query, given, options), options)

    from xlagraph.queries.catalogue.declarations import CHOSEN

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    extra = [_option(parameter) for parameter in query.parameters]
    if any(parameter.name == CHOSEN for parameter in query.parameters):
        extra.insert(0, _NAME)
    chosen: Callable[..., None] = draw_query if query.kind == "graph" else run_query
    app.command(query.id, help=_help(query))(spread_options(chosen, extra))
    command = get_command(app)
    assert isinstance(command, TyperCommand)  # noqa: S101 - typer returns one command for an app of one
    return command


def _given_values(
    query: "Query",
    parameters: Mapping[str, "ParameterValue | None"],
    options: QueryOptions | PictureOptions,
) -> Mapping[str, "ParameterValue"]:
    """Return the given values; raise UsageError if one is missing, except with ``--show``."""
    from xlagraph.queries.catalogue.declarations import CHOSEN

    given = {name: value for name, value in parameters.items() if value is not None}
    named = given.pop(_NAME.name, None)
    if named is not None:
        if CHOSEN in given:
            raise UsageError(
                f"two compilations are named, {named} and {given[CHOSEN]}; {query.id} takes one"
            )
        given[CHOSEN] = named
    for parameter in query.parameters:
        if parameter.must_be_given and parameter.name not in given and not options.show:
            raise UsageError(f"{query.id} needs --{parameter.option}: {parameter.description}")
    return given


def _wrote_instead(
    query: "Query", given: Mapping[str, "ParameterValue"], options: QueryOptions | PictureOptions
) -> bool:
    """Write the statement or the link if one is requested; return whether it was."""
    text = statement_or_link(query, given, options)
    if text is None:
        return False
    with open_output(options) as stream:
        stream.write(text)
    return True


def _run(query: "Query", given: Mapping[str, "ParameterValue"], options: GraphOptions) -> "Answer":
    from xlagraph.queries import run, with_planned_donations

    with open_graph_of(options) as graph:
        answer = run(graph, query.id, catalogue={query.id: query}, **given)
        return with_planned_donations(graph, answer)


def _option(parameter: "Parameter") -> inspect.Parameter:
    # a flag that is true by default needs a negative form
    negative = f"/--no-{parameter.option}" if parameter.type == "BOOLEAN" else ""
    short = ["-c"] if parameter.name == "compilation" else []
    option = typer.Option(
        f"--{parameter.option}{negative}",
        *short,
        help=parameter.description + (" [required]" if parameter.must_be_given else ""),
        autocompletion=_COMPLETIONS.get(parameter.name),
        # an empty string would be shown as an empty pair of brackets
        show_default=parameter.default not in (None, ""),
    )
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=parameter.default,
        annotation=Annotated[TYPES[parameter.type] | None, option],
    )


def _help(query: "Query") -> str:
    columns = "\n".join(f"  {column.name}: {column.description}" for column in query.columns)
    return f"{query.title}.\n\n{query.answers}\n\n\b\nColumns:\n{columns}"
