"""A canned query printed instead of run: as one statement, or as a link to Neo4j Browser."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import open_graph_of
from xlagraph.cli.output.messages import note, problem
from xlagraph.cli.output.shared_options import GraphOptions, PictureOptions, QueryOptions

if TYPE_CHECKING:
    from xlagraph.graph import Scalar
    from xlagraph.graph.neo4j.browser import BrowserPage
    from xlagraph.queries.catalogue.declarations import ParameterValue
    from xlagraph.queries.catalogue.query_files import Query

__all__ = ["note_guess", "statement_or_link"]


def statement_or_link(
    query: "Query", given: Mapping[str, "ParameterValue"], options: QueryOptions | PictureOptions
) -> str | None:
    """Return the requested statement or link; None if the query should run."""
    if options.show:
        return _statement(query, given, options)
    if options.browser or options.browser_url:
        return _link(query, given, options, options.browser_url)
    return None


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


def note_guess(browser: "BrowserPage") -> None:
    """Note that links connect to the default server, if none is configured."""
    if browser.is_guess:
        note(
            "no server is configured: the link connects to the one on this machine, in"
            f" {browser.page}; NEO4J_URI sets the server, --browser-url its page"
        )


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
