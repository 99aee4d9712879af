"""`:param` lines above a statement, as Neo4j Browser takes them."""

import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from xlagraph.graph import Cell

# :param limit => 20;
_PARAMETER_LINE: Final = re.compile(r":param\s+(?P<name>\w+)\s*=>\s*(?P<value>.+?)\s*;?")


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
