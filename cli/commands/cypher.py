"""`xlagraph cypher`: a read-only statement of the user."""

import json
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from xlagraph.cli.output.destination import write_rows
from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.graph_and_queries import open_graph_of
from xlagraph.cli.output.messages import note
from xlagraph.cli.output.shared_options import RowOptions

if TYPE_CHECKING:
    from xlagraph.graph import Cell


# :param limit => 20;
_PARAMETER_LINE: Final = re.compile(r":param\s+(?P<name>\w+)\s*=>\s*(?P<value>.+?)\s*;?")


def cypher(
    options: RowOptions,
    text: Annotated[
        str, typer.Argument(help="The statement; - reads it from stdin.", metavar="STATEMENT")
    ] = "-",
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A parameter; VALUE is JSON, otherwise a string."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0.001, help="End the statement after this time."),
    ] = None,
) -> None:
    """Run a Cypher statement; it can begin with :param lines.

    Example: xlagraph cypher 'MATCH (r:Run) RETURN r.name AS run ORDER BY run'
    """
    try:
        parameters, statement = split_param_lines(_read_statement() if text == "-" else text)
    except ValueError as error:
        raise UsageError(str(error)) from None
    parameters |= _parse_parameters(param or ())
    from xlagraph.queries import run_statement

    with open_graph_of(options) as graph:
        result, notes = run_statement(
            graph, statement, parameters, in_process=True, timeout_seconds=timeout
        )
    for text in notes:
        note(text)
    write_rows(result.columns, result.rows, options)


def _read_statement() -> str:
    if sys.stdin.isatty():
        raise UsageError("no statement; give it as TEXT, or on stdin")
    return sys.stdin.read()


def _parse_parameters(texts: Sequence[str]) -> dict[str, "Cell"]:
    parameters: dict[str, Cell] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"--param expects name=value, found '{text}'")
        if name in parameters:
            raise UsageError(f"--param gives {name} twice")
        try:
            parameters[name] = json.loads(value)
        except ValueError:
            parameters[name] = value
        except RecursionError:
            raise UsageError(f"--param {name} is nested too deep") from None
    return parameters


def split_param_lines(text: str) -> tuple[dict[str, "Cell"], str]:
    """Return the parameters of the `:param` lines above a statement, and the statement.

    A value is JSON, or a string in single quotes. Raises ValueError with the line.
    """
    parameters: dict[str, Cell] = {}
    lines = text.splitlines(keepends=True)
    while lines and (lines[0].isspace() or lines[0].lstrip().startswith(":param")):
        line = lines.pop(0).strip()
        match = _PARAMETER_LINE.fullmatch(line)
        if match is not None:
            parameters[match["name"]] = _parse_literal(match["value"])
        elif line:
            raise ValueError(f"expected ':param name => value', found '{line}'")
    return parameters, "".join(lines)


def _parse_literal(text: str) -> "Cell":
    if len(text) > 1 and text[0] == text[-1] == "'":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    try:
        found: Cell = json.loads(text)
    except ValueError:
        raise ValueError(f"expected JSON or 'text' as the value of :param, found {text}") from None
    return found
