"""Run a user's read-only statement, and report names missing from the schema."""

from collections.abc import Mapping
from typing import Final, NamedTuple, Unpack

from xlagraph.graph.engine import Cell, Graph, QueryLimits, Result
from xlagraph.graph.errors import QueryFailed
from xlagraph.queries.catalogue.query_check import unknown_names

__all__ = ["StatementAnswer", "run_statement"]


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
