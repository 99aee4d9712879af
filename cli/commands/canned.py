"""The command of one canned query: its parameters are real options, with help and types."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from xlagraph.cli.output.declared_options import new_command
from xlagraph.cli.output.destination import open_output, write_answer, write_picture
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import (
    complete_compilation,
    complete_run,
    note_guess,
    open_graph_of,
)
from xlagraph.cli.output.messages import note, problem
from xlagraph.cli.output.shared_options import GraphOptions, PictureOptions, QueryOptions
from xlagraph.comparison.groups import By

if TYPE_CHECKING:
    from typer._click.core import Command

    from xlagraph.graph import Scalar
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


_CHOSEN: Final = "compilation"
"""Parameter that the argument gives, too."""
# no parameter of a query has this name, because they are in camel case
_NAME: Final = inspect.Parameter(
    "compilation_name",
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        str | None,
        typer.Argument(
            metavar="COMPILATION|RUN",
            help="A key, a unique part of one, or a run; by default the largest.",
            autocompletion=complete_compilation,
        ),
    ],
)
_RUN_NAME: Final = inspect.Parameter(
    "run_name",
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        str | None,
        typer.Argument(
            metavar="RUN", help="A run; by default all runs.", autocompletion=complete_run
        ),
    ],
)


def canned_command(query: "Query") -> "Command":
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

    names = {parameter.name for parameter in query.parameters}
    argument = _CHOSEN if _CHOSEN in names else "run"
    extra = [
        _option(parameter, is_hidden=parameter.name == argument) for parameter in query.parameters
    ]
    if argument in names:
        extra.insert(0, _NAME if argument == _CHOSEN else _RUN_NAME)
    chosen: Callable[..., None] = draw_query if query.kind == "graph" else run_query
    return new_command(chosen, query.id, _help(query), extra)


def _given_values(
    query: "Query",
    parameters: Mapping[str, "ParameterValue | None"],
    options: QueryOptions | PictureOptions,
) -> Mapping[str, "ParameterValue"]:
    """Return the given values; raise UsageError if one is missing, except with ``--show``."""
    given = {name: value for name, value in parameters.items() if value is not None}
    for argument, name, what in ((_NAME, _CHOSEN, "compilations"), (_RUN_NAME, "run", "runs")):
        named = given.pop(argument.name, None)
        if named is None:
            continue
        # an empty run is the default of queries about all runs
        if given.get(name):
            raise UsageError(
                f"two {what} are given, {named} and {given[name]}; {query.id} takes one"
            )
        given[name] = named
    for parameter in query.parameters:
        if parameter.must_be_given and parameter.name not in given and not options.show:
            raise UsageError(f"{query.id} needs --{parameter.option}: {parameter.description}")
    return given


def _wrote_instead(
    query: "Query", given: Mapping[str, "ParameterValue"], options: QueryOptions | PictureOptions
) -> bool:
    """Write the statement or the link if one is requested; return whether it was."""
    if options.show:
        text = _statement(query, given, options)
    elif options.browser or options.browser_url:
        text = _link(query, given, options, options.browser_url)
    else:
        return False
    with open_output(options) as stream:
        stream.write(text)
    return True


def _run(query: "Query", given: Mapping[str, "ParameterValue"], options: GraphOptions) -> "Answer":
    from xlagraph.queries.catalogue.declarations import ChangeKind
    from xlagraph.queries.runner.run import run_query

    with open_graph_of(options) as graph:
        answer = run_query(graph, query, given)
        if query.advice is None or query.advice.change is not ChangeKind.DONATE:
            return answer
        from xlagraph.queries import with_planned_donations  # takes 0.3 s to import

        return with_planned_donations(graph, answer)


def _option(parameter: "Parameter", *, is_hidden: bool) -> inspect.Parameter:
    """Return the option of a parameter; hidden if an argument is the usual way to name it."""
    # a flag that is true by default needs a negative form
    negative = f"/--no-{parameter.option}" if parameter.type == "BOOLEAN" else ""
    short = ["-c"] if parameter.name == _CHOSEN else []
    option = typer.Option(
        f"--{parameter.option}{negative}",
        *short,
        help=parameter.description + (" [required]" if parameter.must_be_given else ""),
        autocompletion=_COMPLETIONS.get(parameter.name),
        hidden=is_hidden,
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
    grouping = By.of_query(query.id)
    command = f"xlagraph compare A B --by {grouping}"
    also = f" `{command}` shows the same with totals." if grouping else ""
    return f"{query.title}.\n\n{query.answers}{also}\n\n\b\nColumns:\n{columns}"


def _statement(query: "Query", given: Mapping[str, "ParameterValue"], options: GraphOptions) -> str:
    # missing required parameters remain in the statement, to be set after pasting
    from xlagraph.queries.catalogue.literals import with_values_inlined

    known = tuple(
        parameter
        for parameter in query.parameters
        if parameter.name in given or not parameter.must_be_given
    )
    values, _ = _values(replace(query, parameters=known), given, options)
    for parameter in query.parameters:
        if parameter.name not in values:
            note(f"${parameter.name} must still be set: {parameter.description}")
    return f"// {query.id}: {query.title}\n{with_values_inlined(query.text, values)}"


def _link(
    query: "Query", given: Mapping[str, "ParameterValue"], options: GraphOptions, page: str | None
) -> str:
    from xlagraph.graph.neo4j.browser import LinkTooLong, browser_page
    from xlagraph.queries.catalogue.literals import with_values_inlined, without_comments

    values, found_page = _values(query, given, options)
    for parameter in query.parameters:
        if parameter.name not in values:
            raise UsageError(f"{query.id} requires --{parameter.option} if there is no graph")
    statement = without_comments(with_values_inlined(query.text, values))
    browser = browser_page(options.graph, page=page or found_page)
    note_guess(browser)
    try:
        return browser.link(statement) + "\n"
    except LinkTooLong as error:
        problem(f"{error}: print the statement with --show, and paste it")
        raise typer.Exit(ExitCode.FAILED) from None


def _values(
    query: "Query", given: Mapping[str, "ParameterValue"], options: GraphOptions
) -> tuple[Mapping[str, "Scalar"], str | None]:
    """Return the parameter values of a query, and the address of the server's Browser."""
    from xlagraph.graph import GraphMissing, GraphUnreachable
    from xlagraph.queries.errors import EmptyGraph
    from xlagraph.queries.runner.run import resolve_parameters

    try:
        with open_graph_of(options) as graph:
            values, notes = resolve_parameters(graph, query, given)
            page = graph.find_browser_page()
    except (GraphMissing, GraphUnreachable, EmptyGraph) as error:
        note(f"names are used as typed, without a lookup in the graph: {error}")
        return {**query.defaults, **given}, None
    for text in notes:
        note(text)
    return values, page
