"""Fills the values of parameters into the text of a statement."""

import re
from collections.abc import Mapping
from typing import Final

from xlagraph.graph.engine import Scalar
from xlagraph.queries.catalogue.statement import TOKEN

__all__ = ["cypher_literal", "with_values_inlined", "without_comments"]

_ESCAPES: Final = str.maketrans({"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r", "\t": r"\t"})


def with_values_inlined(text: str, values: Mapping[str, Scalar]) -> str:
    """Return a statement without its header, with values in place of parameters.

    Parameters without a value stay. Both engines read the literals alike.
    """
    lines = text.splitlines(keepends=True)
    while lines and (lines[0].startswith("//") or lines[0].isspace()):
        del lines[0]

    def literal(part: re.Match[str]) -> str:
        name = (part["parameter"] or "").removeprefix("$")
        return cypher_literal(values[name]) if name in values else part[0]

    return TOKEN.sub(literal, "".join(lines))


def without_comments(text: str) -> str:
    """Return a statement without comments and the empty lines that they leave."""
    bare = TOKEN.sub(lambda part: " " if part["comment"] else part[0], text)
    return "\n".join(line.rstrip() for line in bare.splitlines() if line.strip())


def cypher_literal(value: Scalar) -> str:
    """Return a value as a Cypher literal on one line."""
    if isinstance(value, str):
        return f"'{value.translate(_ESCAPES)}'"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)
