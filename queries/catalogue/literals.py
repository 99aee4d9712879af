"""Statements to paste: with values in place of parameters, and as scripts of Neo4j Browser."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from xlagraph.graph.cypher_tokens import TOKEN
from xlagraph.graph.engine import Scalar
from xlagraph.queries.catalogue.query_files import Query

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


def saved_scripts(queries: Iterable[Query]) -> Mapping[str, str]:
    """Return a script for each query by the path of its file; each theme has a folder.

    Browser shows the first line as the name. Defaults stand in the text; what must be given
    stays a parameter, so that `:param` sets it once for all scripts.
    """
    return {
        f"{query.id}.cypher": f"// {query.id}: {query.title}\n"
        + with_values_inlined(query.text, query.defaults)
        for query in queries
    }
