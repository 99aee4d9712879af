"""Check query files without a server; each problem says where, what, and what to do."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from xlagraph.graph import GraphError, open_graph
from xlagraph.graph.cypher_tokens import Token, read_tokens
from xlagraph.graph.schema import SCHEMA
from xlagraph.graph.schema_types import caption_property
from xlagraph.presentation.byte_sizes import counts_bytes
from xlagraph.queries.catalogue.declarations import LiteralType, ParameterValue
from xlagraph.queries.catalogue.dialect import Fault, dialect_faults
from xlagraph.queries.catalogue.query_files import OWN_DIRECTORY, Query, query_files, read_query
from xlagraph.queries.catalogue.statement import (
    Clause,
    Projection,
    clauses,
    patterns,
    projections,
)
from xlagraph.queries.errors import CatalogueError


def check_queries(directory: Path) -> list[str]:
    """Return every problem of the query files below a directory, `file:line: what; fix`."""
    if directory.is_file():
        return [f"{directory}: is a file; name the folder that contains theme/noun-phrase.cypher"]
    if not directory.is_dir():
        return [f"{directory}: no such folder; name one that contains theme/noun-phrase.cypher"]
    files = list(query_files(directory))
    if not files:
        return [f"{directory}: contains no query; add one at theme/noun-phrase.cypher"]
    problems: list[str] = []
    valid: list[Query] = []
    for path in files:
        try:
            query = read_query(path, directory)
        except CatalogueError as error:
            problems.append(str(error))
            continue
        own = OWN_DIRECTORY / f"{query.id}.cypher"
        if own.exists() and own.resolve() != path.resolve():
            problems.append(f"{path}:1: {query.id} is already part of xlagraph; rename this file")
        faults = query_faults(query)
        problems += [f"{path}:{fault.line}: {fault.message}" for fault in faults]
        if not faults:
            valid.append(query)
    return [*problems, *_engine_refusals(valid)]


def query_faults(query: Query) -> list[Fault]:
    """Return the faults of a query's statement, by line."""
    faults = statement_faults(query.text)
    statement = list(read_tokens(query.text))
    for agreement in (_parameters_agree, _columns_agree) if statement else ():
        faults += agreement(query, statement)
    return sorted(set(faults))


def statement_faults(text: str) -> list[Fault]:
    """Return the faults of a statement, independent of its header, by line."""
    statement = list(read_tokens(text))
    if not statement:
        return [Fault(len(text.splitlines()), "there is no statement below the header")]
    faults = [*dialect_faults(statement)]
    for rule in (_missing_order, _reads_loading, _unknown_names):
        faults += rule(statement)
    return sorted(set(faults))


def _parameters_agree(query: Query, statement: Sequence[Token]) -> Iterator[Fault]:
    used = {token.text[1:]: token.line for token in statement if token.kind == "parameter"}
    declared = [parameter.name for parameter in query.parameters]
    for name, line in used.items():
        if name not in declared:
            yield Fault(line, f"${name} is not declared; add '// @param {name} TYPE …'")
    for name in declared:
        if name not in used:
            yield Fault(query.lines[f"@param {name}"], f"@param {name} is not used; drop the line")


def _columns_agree(query: Query, statement: Sequence[Token]) -> Iterator[Fault]:
    declared = [column.name for column in query.columns]
    for clause in clauses(statement):
        if not clause.word.startswith("RETURN"):
            continue
        returned = [projection.name for projection in projections(clause)]
        for projection in projections(clause):
            if projection.name not in declared:
                yield Fault(
                    projection.line,
                    f"{projection.name} is not declared; add '// @column {projection.name} TYPE …'",
                )
        for name in declared:
            if name not in returned:
                yield Fault(
                    query.lines[f"@column {name}"],
                    f'@column {name} is not returned; add "… AS {name}" or drop the line',
                )
        if sorted(returned) == sorted(declared) and returned != declared:
            yield Fault(clause.line, f"columns are in a different order than declared: {declared}")
    if not any(clause.word.startswith("RETURN") for clause in clauses(statement)):
        yield Fault(statement[-1].line, "no RETURN; return what the @column lines declare")


_AGGREGATES: Final = (
    "count", "sum", "min", "max", "avg", "collect", "percentilecont", "percentiledisc", "stdev",
    "stdevp",
)  # fmt: skip
_UNIQUE: Final = ("key", "label", "name", "valueId", "number", "step", "color")
"""Properties that are different in every row of a query."""


def _missing_order(statement: Sequence[Token]) -> Iterator[Fault]:
    found = clauses(statement)
    words = [clause.word for clause in found]
    is_one_row = (
        all(_aggregates(projection) for projection in projections(found[-1])) if found else False
    )
    if words[-1:] != ["LIMIT"] and "ORDER BY" not in words and not is_one_row:
        yield Fault(statement[-1].line, "rows come in any order; end with ORDER BY")
    for index, clause in enumerate(found):
        if clause.word != "LIMIT":
            continue
        if found[index - 1].word != "ORDER BY":
            yield Fault(clause.line, "LIMIT without ORDER BY gives any rows; sort before it")
            continue
        sorted_by = _sorted_by(found[index - 1])
        missing = _missing_tie_breakers(found[: index - 1], sorted_by)
        if missing:
            yield Fault(
                clause.line,
                f"the order of rows that are equal in ORDER BY is undefined; end it in {missing}",
            )


def _sorted_by(clause: Clause) -> list[str]:
    words = [
        "".join(token.text for token in projection.expression if not token.is_word("DESC", "ASC"))
        for projection in projections(clause)
    ]
    return [word for word in words if word]


def _missing_tie_breakers(before: Sequence[Clause], sorted_by: Sequence[str]) -> str | None:
    """Return the names that ORDER BY needs in addition, to leave no ties."""
    named: dict[str, Projection] = {}
    groups: list[str] | None = None
    for clause in before:
        if not clause.word.startswith(("WITH", "RETURN")):
            continue
        projected = projections(clause)
        named |= {projection.name: projection for projection in projected}
        if any(_aggregates(projection) for projection in projected):
            groups = [projection.name for projection in projected if not _aggregates(projection)]
        elif "DISTINCT" in clause.word:
            groups = [projection.name for projection in projected]
    if groups is not None and all(group in sorted_by for group in groups):
        return None
    last = sorted_by[-1] if sorted_by else ""
    expression = named[last].expression if last in named else ()
    property_ = expression[-1].text if expression else last.rpartition(".")[2]
    if property_ in _UNIQUE:
        return None
    return "all of " + ", ".join(groups) if groups else "a label or key"


def _aggregates(projection: Projection) -> bool:
    return any(
        token.kind == "name" and token.text.lower() in _AGGREGATES and after.text == "("
        for token, after in zip(projection.expression, projection.expression[1:], strict=False)
    )


def _reads_loading(statement: Sequence[Token]) -> Iterator[Fault]:
    if _starts_at_part(statement) or _reads_shared_nodes(statement):
        return
    text = " ".join(token.text for token in statement).replace(" . ", ".").replace('"', "'")
    if ".state = 'complete'" not in text and "state : 'complete'" not in text:
        yield Fault(
            statement[0].line,
            "sees compilations that are still being loaded; start at"
            " (c:Compilation {key: $compilation, state: 'complete'}) or add c.state = 'complete'",
        )


def _starts_at_part(statement: Sequence[Token]) -> bool:
    """Return True if it starts at the key of a part of a complete compilation."""
    first = next((pattern for pattern in patterns(statement) if pattern.is_node), None)
    return (
        first is not None
        and _PARTS.issuperset(first.names)
        and [token.text for token in first.properties] == ["key"]
    )


def _reads_shared_nodes(statement: Sequence[Token]) -> bool:
    """Return True if it reads only nodes that never belong to a load in progress."""
    named = {name for pattern in patterns(statement) for name in pattern.names}
    ends = {
        end
        for relationship in SCHEMA.relationships
        if relationship.name in named
        for end in (relationship.source, relationship.target)
    }
    return bool(named) and _SHARED.issuperset((named & _LABELS) | ends)


_PARTS: Final = frozenset(node.label for node in SCHEMA.nodes if node.is_part)
_SHARED: Final = frozenset(node.label for node in SCHEMA.nodes if node.is_shared)
_PROPERTIES: Final[Mapping[str, frozenset[str]]] = {
    **{
        node.label: frozenset(property_.name for property_ in node.properties)
        for node in SCHEMA.nodes
    },
    **{
        relationship.name: frozenset(property_.name for property_ in relationship.properties)
        for relationship in SCHEMA.relationships
    },
}
_LABELS: Final = frozenset(node.label for node in SCHEMA.nodes)
_TYPES: Final = frozenset(relationship.name for relationship in SCHEMA.relationships)


def unknown_names(text: str) -> list[Fault]:
    """Return the labels, relationship types and properties missing from the schema, by line.

    Each has similar names. A variable without a pattern may be a map: all its properties are
    accepted.
    """
    return sorted(set(_unknown_names(list(read_tokens(text)), maps=True)))


def _unknown_names(statement: Sequence[Token], *, maps: bool = False) -> Iterator[Fault]:
    names_by_variable: dict[str, set[str]] = {}
    for pattern in patterns(statement):
        for name in pattern.names:
            if name not in (_LABELS if pattern.is_node else _TYPES):
                what = "label" if pattern.is_node else "relationship type"
                known = _LABELS if pattern.is_node else _TYPES
                yield Fault(pattern.line, f"the schema has no {what} {name}{_near(name, known)}")
        if pattern.variable:
            names_by_variable.setdefault(pattern.variable, set()).update(pattern.names)
        for token in pattern.properties:
            yield from _unknown_property(token, set(pattern.names))
    map_keys = {token.text for token, after in pairwise(statement) if after.text == ":"}
    for index, token in enumerate(statement[:-2]):
        if token.kind != "name" or statement[index + 1].text != ".":
            continue
        is_map = token.text not in names_by_variable
        if not (is_map and (maps or statement[index + 2].text in map_keys)):
            yield from _unknown_property(
                statement[index + 2], names_by_variable.get(token.text, set())
            )


def _unknown_property(token: Token, names: set[str]) -> Iterator[Fault]:
    owners = names & _PROPERTIES.keys() or _PROPERTIES.keys()
    if not any(token.text in _PROPERTIES[owner] for owner in owners):
        of = " or ".join(sorted(names)) or "anything"
        known = {name for owner in owners for name in _PROPERTIES[owner]}
        captions = {caption_property(name) for name in known if counts_bytes(name)}
        remedy = _near(token.text, known - captions)
        yield Fault(token.line, f"the schema has no property {token.text} of {of}{remedy}")


def _near(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, sorted(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else ""


_LINE: Final = re.compile(r" *\(line: (\d+), offset: \d+\)")
_VALUES: Final[dict[LiteralType, ParameterValue]] = {
    LiteralType.STRING: "",
    LiteralType.INTEGER: 1,
    LiteralType.FLOAT: 0.5,
    LiteralType.BOOLEAN: True,
}


def _engine_refusals(queries: Iterable[Query]) -> Iterator[str]:
    """Yield what the embedded engine rejects, on an empty graph: file, line if known, message."""
    with (
        TemporaryDirectory(prefix="xlagraph-") as folder,
        open_graph(Path(folder) / "empty.lbug", create=True) as graph,
    ):
        for query in queries:
            given = {
                each.name: query.defaults.get(each.name, _VALUES[each.type])
                for each in query.parameters
            }
            try:
                graph.query(query.text, given)
            except GraphError as error:
                message, *_ = str(error).splitlines()
                line = _LINE.search(message)
                location = f"{query.path}:{line[1] if line else _first_line(query)}"
                yield f"{location}: the engine rejects it: {_LINE.sub('', message)}"


def _first_line(query: Query) -> int:
    lines = query.text.splitlines()
    return next(number for number, line in enumerate(lines, start=1) if not line.startswith("//"))
