"""The statement and the command line that repeat a table of the page."""

import shlex
from collections.abc import Collection, Mapping

from xlagraph.graph import Scalar
from xlagraph.queries import Parameter, Query
from xlagraph.queries.catalogue.literals import with_values_inlined

Reproduction = dict[str, str]
"""The texts under `cypher` and `command`."""


def reproduction_of_query(query: Query, given: Mapping[str, Scalar]) -> Reproduction:
    """Return statement and command line of a canned query."""
    return {"cypher": pasteable_statement(query, given), "command": command_line(query, given)}


def reproduction_of_statement(text: str, given: Mapping[str, Scalar]) -> Reproduction:
    """Return statement and command line for a statement outside of the catalogue."""
    cypher = with_values_inlined(text, given)
    return {"cypher": cypher, "command": shlex.join(["xlagraph", "cypher", cypher])}


def pasteable_statement(
    query: Query, given: Mapping[str, Scalar], *, left_open: Collection[str] = ()
) -> str:
    """Return a query as one statement to paste, with its parameters filled in.

    A parameter without a value stays open, even if it has a default.
    """
    defaults = {name: default for name, default in query.defaults.items() if name not in left_open}
    return with_values_inlined(query.text, defaults | dict(given))


def command_line(query: Query, given: Mapping[str, Scalar]) -> str:
    """Return the command line that repeats a query."""
    options = [
        part
        for parameter in query.parameters
        if parameter.name in given
        for part in _option(parameter, given[parameter.name])
    ]
    return shlex.join(["xlagraph", "query", query.id, *options])


def _option(parameter: Parameter, value: Scalar) -> tuple[str, ...]:
    if isinstance(value, bool):
        return (f"--{parameter.option}" if value else f"--no-{parameter.option}",)
    if parameter.name == "compilation":
        return (str(value),)
    return (f"--{parameter.option}", str(value))
