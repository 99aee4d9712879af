"""What the canned queries answer about a compilation, and what `advise` finds, as facts."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from xlagraph.graph import Cell, Graph, Scalar
from xlagraph.queries import Diagnosis, Finding, Query, advise, load_catalogue, run
from xlagraph.queries.literals import written_out

ROWS_SHOWN: Final = 100
"""Rows of each answer that a page carries."""

Facts = dict[str, object]


def answered_facts(graph: Graph, compilation: str, diagnosis: Diagnosis | None = None) -> Facts:
    """Return what is found and answered about a compilation, for its part of a page.

    It is diagnosed unless the diagnosis is there already.
    """
    found = diagnosis or advise(graph, compilation)
    return {
        "findings": [_finding(finding) for finding in found.findings],
        "notes": found.notes,
        "answers": answers(graph, compilation),
    }


def answers(graph: Graph, compilation: str) -> list[Facts]:
    """Return the answers of the canned queries that ask for a compilation and nothing else.

    Series are left out: the page draws the timeline from the values.
    """
    return [
        answer(graph, query, {"compilation": compilation, "limit": ROWS_SHOWN})
        for query in load_catalogue().values()
        if query.kind == "table" and _asks_for_a_compilation_only(query)
    ]


def answer(graph: Graph, query: Query, given: Mapping[str, Scalar]) -> Facts:
    """Run a canned query, and return its rows with what made them and what repeats them."""
    names = {parameter.name for parameter in query.parameters}
    parameters = {name: value for name, value in given.items() if name in names}
    found = run(graph, query.id, catalogue={query.id: query}, **parameters)
    return {
        "id": query.id,
        "title": query.title,
        "answers": query.answers,
        "measure": query.measure,
        "columns": [
            {"name": column.name, "type": str(column.type), "isBytes": column.is_bytes}
            for column in query.columns
        ],
        "rows": found.result.rows,
        "notes": [*query.notes, *found.notes],
        "cypher": statement(query, parameters),
        "command": command(query, parameters),
    }


def statement(query: Query, given: Mapping[str, Scalar]) -> str:
    """Return the query as one statement that runs where it is pasted."""
    values: dict[str, Scalar] = {
        parameter.name: parameter.default
        for parameter in query.parameters
        if not parameter.required
    }
    return written_out(query.text, values | dict(given))


def command(query: Query, given: Mapping[str, Scalar]) -> str:
    """Return the command line that repeats the query."""
    options = [
        part
        for parameter in query.parameters
        if parameter.name in given
        for part in (f"--{parameter.option}", str(given[parameter.name]))
    ]
    return shlex.join(["xlagraph", "query", query.id, *options])


def _finding(finding: Finding) -> Facts:
    given = {"compilation": finding.compilation}
    return {
        "id": finding.query.id,
        "compilation": finding.compilation,
        "title": finding.advice.title,
        "measure": finding.savings.measure,
        "bytes": finding.bytes,
        "share": finding.share,
        "remedies": dict(finding.advice.remedies),
        "columns": list(finding.evidence_columns),
        "rows": _evidence(finding.rows, finding.evidence_columns),
        "rowCount": len(finding.rows),
        "cypher": statement(finding.query, given),
        "command": command(finding.query, given),
    }


def _evidence(rows: Sequence[Mapping[str, Cell]], columns: Sequence[str]) -> list[list[Cell]]:
    return [[row[column] for column in columns] for row in rows[:ROWS_SHOWN]]


def _asks_for_a_compilation_only(query: Query) -> bool:
    names = {parameter.name for parameter in query.parameters if parameter.required}
    return names == {"compilation"}
