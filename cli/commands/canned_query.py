"""The command of one canned query: its parameters are real options, with help and types."""

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer.core import TyperCommand
from typer.main import get_command

from xlagraph.cli.exit_codes import UsageError
from xlagraph.cli.options.completion import complete_compilation, complete_run
from xlagraph.cli.options.graph import opened
from xlagraph.cli.options.recurring import GraphOptions, RowOptions
from xlagraph.cli.options.spread import spread_options
from xlagraph.cli.output.browser import browser_link, browser_text
from xlagraph.cli.output.destination import open_output, write_answer
from xlagraph.cli.output.messages import note

if TYPE_CHECKING:
    from xlagraph.queries.catalogue.catalogue import Query
    from xlagraph.queries.catalogue.declarations import Literal, Parameter

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
_CHOSEN: Final = "compilation"
"""The parameter that may be left out though it has no default."""


def canned_command(query: "Query") -> TyperCommand:
    """Return the command that runs a query."""

    def run_query(
        options: RowOptions,
        show: Annotated[
            bool,
            typer.Option(
                "--show",
                help="Print :param lines and the file as it is, for Neo4j Browser; do not run it.",
            ),
        ] = False,
        browser: Annotated[
            bool, typer.Option("--browser", help="Print a link that opens it in Neo4j Browser.")
        ] = False,
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
        given = {name: value for name, value in parameters.items() if value is not None}
        if show:
            _write(browser_text(query, _with_whole_key(given, options)), options)
        elif browser:
            link = browser_link(query, _with_whole_key(given, options), options.graph)
            _write(f"{link}\n", options)
        else:
            _run(query, given, options, plot)

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    extra = [_option(parameter) for parameter in query.parameters]
    app.command(query.id, help=_help(query))(spread_options(run_query, extra))
    command = get_command(app)
    assert isinstance(command, TyperCommand)  # noqa: S101 - an app of one command is one
    return command


def _write(text: str, options: RowOptions) -> None:
    with open_output(options) as stream:
        stream.write(text)


def _run(
    query: "Query", given: Mapping[str, "Literal"], options: RowOptions, plot: bool | None
) -> None:
    from xlagraph.queries import run

    _check_given(query, given)
    if plot and not any(column.is_bytes for column in query.columns):
        raise UsageError(f"{query.id} has no column of bytes to draw")
    with opened(options) as graph:
        answer = run(graph, query.id, catalogue={query.id: query}, **given)
    write_answer(answer, options, is_plotted=plot)


def _with_whole_key(
    given: Mapping[str, "Literal"], options: GraphOptions
) -> Mapping[str, "Literal"]:
    """Give the compilation by its key: a Browser knows no parts of one."""
    if _CHOSEN not in given:
        return given
    from xlagraph.graph import GraphError
    from xlagraph.queries.selection import find_compilation

    name = str(given[_CHOSEN])
    try:
        with opened(options) as graph:
            return {**given, _CHOSEN: find_compilation(graph, name).key}
    except GraphError as error:
        note(f"'{name}' stands there as it was typed, Browser needs the whole key: {error}")
        return given


def _check_given(query: "Query", given: Mapping[str, "Literal"]) -> None:
    for parameter in query.parameters:
        if _must_be_given(parameter) and parameter.name not in given:
            raise UsageError(f"{query.id} needs --{parameter.option}: {parameter.description}")


def _must_be_given(parameter: "Parameter") -> bool:
    return parameter.required and parameter.name != _CHOSEN


def _option(parameter: "Parameter") -> inspect.Parameter:
    # a flag that is true by default must be able to say no
    negative = f"/--no-{parameter.option}" if parameter.type == "BOOLEAN" else ""
    option = typer.Option(
        f"--{parameter.option}{negative}",
        help=parameter.description + (" [required]" if _must_be_given(parameter) else ""),
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
