"""Run a canned query: resolve names, check types, run it, explain missing rows."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, NamedTuple, Unpack, cast

from xlagraph.graph.engine import Cell, Graph, QueryLimits, Result, Scalar, Tabular
from xlagraph.graph.errors import QueryFailed
from xlagraph.graph.row_cells import Path
from xlagraph.graph.schema import Detail
from xlagraph.presentation.outlines import Outline, OutlineTable
from xlagraph.queries.catalogue.declarations import (
    EXAMPLES,
    NO_LIMIT,
    NO_ROWS,
    ColumnType,
    LiteralType,
    Parameter,
)
from xlagraph.queries.catalogue.query_check import unknown_names
from xlagraph.queries.catalogue.query_files import Query, load_catalogue
from xlagraph.queries.errors import (
    AmbiguousValue,
    BadParameter,
    NoSuchName,
    UnknownQuery,
    similar_names,
)
from xlagraph.queries.runner.compilations import (
    check_stored,
    find_compilation,
    find_run,
    is_compilation,
    select,
)
from xlagraph.queries.runner.missing_facts import missing_facts
from xlagraph.queries.runner.name_checks import check_names, check_tag
from xlagraph.queries.runner.values import find_label

_LONGEST_CHECKED: Final = 10_000
"""Longest statement that is checked, in characters; each wrong name takes a millisecond."""


class StatementAnswer(NamedTuple):
    """A statement's answer."""

    result: Result
    notes: tuple[str, ...]
    """One note for each name missing from the schema, with similar names."""


def run_statement(
    graph: Graph,
    text: str,
    parameters: Mapping[str, Cell] | None = None,
    **limits: Unpack[QueryLimits],
) -> StatementAnswer:
    """Run a read-only statement; its options and errors are those of `Graph.query`.

    QueryFailed also reports names missing from the schema, with similar names.
    """
    faults = unknown_names(text) if len(text) <= _LONGEST_CHECKED else []
    unknown = tuple(f"line {fault.line}: {fault.message}" for fault in faults)
    try:
        result = graph.query(text, parameters, **limits)
    except QueryFailed as error:
        raise QueryFailed("\n".join((str(error), *unknown))) from error
    return StatementAnswer(result, unknown)


_SIDES: Final = ("runA", "runB")
"""Parameters that name one side of a comparison."""
_ALL: Final = "(limit 0 for all)"


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Tabular):
    """The answer of a canned query."""

    query: Query
    result: Result
    compilation: str | None
    """Key of the compilation; None for a query over runs."""
    notes: tuple[str, ...]
    """Notes for the reader, such as the chosen compilation and facts missing from the dump."""
    empty: str
    """Meaning of an answer without rows."""

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        return iter(self.result)

    def outline(self) -> Outline:
        """Return the rows below the query's title; without rows, what that means."""
        if not self.result.rows:
            return Outline(self.query.title, notes=(*self.notes, self.empty))
        table = OutlineTable(self.result.columns, self.result.rows, shown=self.query.shown)
        return Outline(self.query.title, [table], self.notes)

    def _result(self) -> Result:
        return self.result


def run(
    graph: Graph,
    query_id: str,
    /,
    *,
    catalogue: Mapping[str, Query] | None = None,
    **parameters: Scalar,
) -> Answer:
    """Run a canned query by its id.

    ``compilation`` may be any unique part of a key. If it is omitted or names a run, the
    compilation with the most reserved bytes is used, and a note says which. ``runA`` and ``runB``
    may also name compilations. A ``limit`` of 0 means no limit. A parameter that is None is
    ignored. ``value`` may be another name of a value, and a note says which value it is.

    Raise UnknownQuery, BadParameter, NoSuchRun, NoSuchCompilation, AmbiguousCompilation,
    NoSuchName for an unknown value, instruction, allocation, module or op, NotStored if the
    compilation was ingested without the facts that the query needs, EmptyGraph, or an error of
    `Graph.query`.
    """
    query = find_query(query_id, load_catalogue() if catalogue is None else catalogue)
    return run_query(graph, query, parameters)


def run_query(graph: Graph, query: Query, parameters: Mapping[str, Scalar]) -> Answer:
    """Run a query that was found; see `run`."""
    given = {name: value for name, value in parameters.items() if value is not None}
    resolved, notes = resolve_parameters(graph, query, given)
    if query.needed_detail is Detail.ALL:
        given_names = (resolved.get(name) for name in ("compilation", "run", *_SIDES))
        check_stored(graph, [str(name) for name in given_names if name])
    result = _in_order(query, graph.query(query.text, resolved))
    check_tag(graph, result.columns, resolved)
    if not result.rows and (other := _other_name(graph, resolved)) is not None:
        notes.append(f"{resolved['value']} is another name of {other}")
        resolved["value"] = other
        result = _in_order(query, graph.query(query.text, resolved))
    if not result.rows:
        check_names(graph, resolved)
    absences = missing_facts(graph, query, resolved, result)
    notes += absences
    notes += _limit_notes(query, resolved.get("limit"), result)
    compilation = resolved.get("compilation")
    key = None if compilation is None else str(compilation)
    return Answer(query, result, key, tuple(notes), NO_ROWS if absences else query.empty)


def known_parameters(query: Query, given: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return the given parameters that a query declares."""
    names = {parameter.name for parameter in query.parameters}
    return {name: value for name, value in given.items() if name in names}


def reading_ahead(
    graph: Graph, queries: Iterable[Query], given: Mapping[str, Scalar]
) -> AbstractContextManager[None]:
    """Begin with queries that the block runs with the parameters that each declares.

    Raises what their run would raise for the parameters.
    """
    resolved = [
        (query.text, resolve_parameters(graph, query, known_parameters(query, given))[0])
        for query in queries
    ]
    return graph.read_ahead(resolved)


def _other_name(graph: Graph, resolved: Mapping[str, Scalar]) -> str | None:
    """Return the value's label if it was given another of its names; else None."""
    name, compilation = str(resolved.get("value") or ""), str(resolved.get("compilation") or "")
    if not (name and compilation):
        return None
    try:
        label = find_label(graph, compilation, name)
    except (NoSuchName, AmbiguousValue):
        return None  # check_names reports it
    return None if label == name else label


def find_query(query_id: str, catalogue: Mapping[str, Query]) -> Query:
    """Return a query by its id; raise UnknownQuery with similar ids."""
    if query_id in catalogue:
        return catalogue[query_id]
    of_theme = [id_ for id_ in catalogue if id_.split("/")[0] == query_id]
    same_noun = [id_ for id_ in catalogue if id_.split("/")[1] == query_id]
    near = of_theme or same_noun or similar_names(query_id, tuple(catalogue))
    raise UnknownQuery(f"no query is called '{query_id}'", near)


def _in_order(query: Query, result: Result) -> Result:
    """Return the rows with sorted lists, because engines collect them in any order.

    The paths of a UNION are sorted too, because engines run its parts in any order.
    """
    if query.kind == "graph" and re.search(r"^UNION\b", query.text, re.MULTILINE):
        return Result(result.columns, tuple(sorted(result.rows, key=_walked)))
    lists = {i for i, column in enumerate(query.columns) if column.type is ColumnType.LIST}
    if not lists:
        return result
    rows = [
        tuple(
            sorted(map(str, cast("Sequence[Cell]", cell))) if i in lists and cell else cell
            for i, cell in enumerate(row)
        )
        for row in result.rows
    ]
    return Result(result.columns, tuple(rows))


def _walked(row: Sequence[Cell]) -> list[str]:
    """Return the keys of all nodes of the paths in a row."""
    return [node.key for cell in row if isinstance(cell, Path) for node in cell.nodes]


def _limit_notes(query: Query, limit: Scalar, result: Result) -> list[str]:
    """Return a note if a limit may have omitted rows."""
    if not isinstance(limit, int) or not result.rows:
        return []
    if query.kind != "graph":
        shown = "row" if limit == 1 else f"{limit} rows"
        return [f"showing the first {shown} {_ALL}"] if len(result.rows) >= limit else []
    if _most_drawn(result) < limit:
        return []
    counted = next(each.description for each in query.parameters if each.name == "limit")
    return [f"at most {limit} {counted} {_ALL}"]


def _most_drawn(result: Result) -> int:
    """Return a lower bound of the number of drawn things that a limit counts.

    A limit counts paths, or the nodes at their ends.
    """
    paths = [
        [cell for cell in column if isinstance(cell, Path)]
        for column in zip(*result.rows, strict=True)
    ]
    drawn = [len({tuple(node.key for node in path.nodes) for path in column}) for column in paths]
    ends = [len({path.nodes[end].key for column in paths for path in column}) for end in (0, -1)]
    return max(*drawn, *ends)


def resolve_parameters(
    graph: Graph, query: Query, given: Mapping[str, Scalar]
) -> tuple[dict[str, Scalar], list[str]]:
    """Return the parameter values of a query, and notes on chosen defaults; see `run`."""
    declared = {parameter.name: parameter for parameter in query.parameters}
    for name in given:
        if name not in declared:
            raise _unknown_parameter(query, name)
    resolved: dict[str, Scalar] = {}
    notes: list[str] = []
    for name, parameter in declared.items():
        if name in given:
            resolved[name] = _checked(query, parameter, given[name])
        elif not parameter.required:
            resolved[name] = parameter.default
        elif name != "compilation":
            raise BadParameter(f"{query.id} needs {name}: {parameter.description}")
    if "compilation" in declared:
        named = resolved.get("compilation")
        found = find_compilation(graph, None if named is None else str(named))
        resolved["compilation"] = found.key
        if found.note:
            notes.append(found.note)
    if resolved.get("run"):
        find_run(graph, str(resolved["run"]))
    for name in _SIDES:
        side = str(resolved.get(name) or "")
        if side and not is_compilation(graph, side):
            # run/function names a compilation; a part of a run's name is a typing error
            chosen = select(graph, side).name if "/" in side else find_run(graph, side)
            resolved[name] = chosen
    if resolved.get("limit") == 0:
        resolved["limit"] = NO_LIMIT
    return resolved, notes


def _checked(query: Query, parameter: Parameter, value: Scalar) -> Scalar:
    accepted = _ACCEPTED[parameter.type]
    if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
        raise BadParameter(
            f"{query.id}: {parameter.name} is {parameter.type}, got {value!r};"
            f" give e.g. {parameter.name} = {EXAMPLES[parameter.type]}"
        )
    if isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        raise BadParameter(f"{query.id}: {parameter.name} = {value} is beyond 64 bits")
    if fault := parameter.out_of_bounds(value):
        example = parameter.least if parameter.default is None else parameter.default
        raise BadParameter(
            f"{query.id}: {parameter.name} = {value} is {fault};"
            f" give e.g. {parameter.name} = {example}"
        )
    return value


_SMALLEST: Final = -(2**63)
_LARGEST: Final = 2**63 - 1
_ACCEPTED: Final[Mapping[LiteralType, tuple[type, ...]]] = {
    LiteralType.STRING: (str,),
    LiteralType.INTEGER: (int,),
    LiteralType.FLOAT: (int, float),
    LiteralType.BOOLEAN: (bool,),
}


def _unknown_parameter(query: Query, name: str) -> BadParameter:
    names = [parameter.name for parameter in query.parameters]
    close = get_close_matches(name, names, n=1)
    remedy = f"did you mean {close[0]}?" if close else f"it has {', '.join(names) or 'none'}"
    return BadParameter(f"{query.id} has no parameter {name}; {remedy}")
