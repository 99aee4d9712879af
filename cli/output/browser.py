"""A canned query in Neo4j Browser: the lines that set its parameters, and a link."""

import json
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from xlagraph.graph import Cell
    from xlagraph.queries.catalogue.catalogue import Query
    from xlagraph.queries.catalogue.declarations import Literal

_EXAMPLES: Final[Mapping[str, "Literal"]] = {
    "STRING": "…",
    "INTEGER": 0,
    "FLOAT": 0.0,
    "BOOLEAN": False,
}


# :param limit => 20;
_PARAMETER_LINE: Final = re.compile(r":param\s+(?P<name>\w+)\s*=>\s*(?P<value>.+?)\s*;?")


def browser_text(query: "Query", given: Mapping[str, "Literal"]) -> str:
    """Give `:param` lines, then the query's file as it is: together they run when pasted.

    A parameter without value stands there as an example, to be filled in: a compilation
    by its whole key.
    """
    lines = []
    for parameter in query.parameters:
        value = given.get(parameter.name, parameter.default)
        if value is None:
            value = "run/stem" if parameter.name == "compilation" else _EXAMPLES[parameter.type]
        lines.append(f":param {parameter.name} => {_cypher_literal(value)};\n")
    return "".join(lines) + query.text


def browser_link(query: "Query", given: Mapping[str, "Literal"], location: str | None) -> str:
    """Give the address that opens the query in the Browser of the server that is named.

    Without a server in ``location`` or the environment it is the one on this machine.
    """
    uri = urlsplit(location or os.environ.get("XLAGRAPH_GRAPH") or os.environ.get("NEO4J_URI", ""))
    is_server = uri.scheme.startswith(("neo4j", "bolt"))
    host = uri.hostname if is_server and uri.hostname else "localhost"
    place = f"[{host}]" if ":" in host else host
    scheme, port = ("https", 7473) if "+s" in uri.scheme else ("http", 7474)
    text = quote(browser_text(query, given), safe="")
    return f"{scheme}://{place}:{port}/browser/?cmd=edit&arg={text}"


def parse_browser_text(text: str) -> tuple[dict[str, "Cell"], str]:
    """Take the `:param` lines off a statement, and give their parameters.

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


def _cypher_literal(value: "Literal") -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return json.dumps(value)
