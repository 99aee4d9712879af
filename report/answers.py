"""Answers of the canned queries and findings of `advise` about a compilation, for the page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from xlagraph.graph import Cell, Graph, QueryFailed, QueryRefused, Scalar
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.edits.live_orders import live_orders
from xlagraph.queries import (
    Column,
    Diagnosis,
    Finding,
    Query,
    QueryError,
    advise,
    with_planned_donations,
)
from xlagraph.queries.runner.run import known_parameters, reading_ahead, run_query
from xlagraph.report.packed_tables import ColumnKind, PackedColumn, PagePart
from xlagraph.report.reproduction import reproduction_of_query
from xlagraph.runtime.memory import collector_paused

ROWS_SHOWN: Final = 100
"""Most rows of each answer in a page."""

Facts = dict[str, object]


@collector_paused()
def advice_and_answers(
    graph: Graph,
    compilation: str,
    catalogue: Mapping[str, Query],
    *,
    stored: StoredCompilation | None = None,
    after_advice: Callable[[], None] = lambda: None,
) -> tuple[Diagnosis, PagePart]:
    """Return a diagnosis, and what a page is told about a compilation after the compilation.

    The queries that `advise` does not ask are read ahead. ``stored`` is the compilation of that
    key, if the caller reads it too. ``after_advice`` is called between both.
    """
    stored = stored or StoredCompilation(graph, compilation)
    queries = [query for query in _answered(catalogue) if query.advice is None]
    with reading_ahead(graph, queries, _parameters(stored)):
        found = advise(graph, stored.key, catalogue=catalogue, stored=stored)
        after_advice()
        return found, _findings_and_answers(graph, found, stored, catalogue)


def _findings_and_answers(
    graph: Graph, found: Diagnosis, stored: StoredCompilation, catalogue: Mapping[str, Query]
) -> PagePart:
    """Return a diagnosis, the answers about its compilation, and the curve of another order.

    Series are omitted, because the page draws the timeline from the values.
    """
    order, curve = _other_order(stored)
    facts = {
        "otherOrder": order,
        "findings": [_finding_facts(finding) for finding in found.findings],
        "notes": (*found.notes, *found.problems),
        "answers": [_answer_facts(graph, query, stored) for query in _answered(catalogue)],
    }
    return PagePart(facts, {"otherOrder": {"liveBytes": curve}})


def _other_order(stored: StoredCompilation) -> tuple[Facts, PackedColumn]:
    """Return the order that saves memory, and its live bytes at each step in memory space 0.

    There are no bytes if it cannot be planned, or is the order of the dump.
    """
    nothing = PackedColumn(ColumnKind.WIDE_NUMBER, ())
    try:
        orders = live_orders(stored, 0)
    except QueryError as error:
        return {"name": None, "note": str(error)}, nothing
    name = f"{orders.chosen.rule.value} order"
    if orders.here.schedule.steps == orders.other.schedule.steps:
        return {"name": name, "note": f"the instructions already run in the {name}"}, nothing
    curve = PackedColumn(ColumnKind.WIDE_NUMBER, orders.other.by_step.tolist())
    return {"name": name, "note": orders.chosen.setting}, curve


def _answer_facts(graph: Graph, query: Query, stored: StoredCompilation) -> Facts:
    """Run a query; return its rows, the statement, and the command that runs it again.

    If the query is rejected, the reason becomes a note.
    """
    parameters = known_parameters(query, _parameters(stored))
    rows: Sequence[Sequence[Cell]] = ()
    notes: Sequence[str]
    try:
        answer = run_query(graph, query, parameters)
        found = with_planned_donations(graph, answer, stored=stored)
        rows, notes = found.result.rows, found.notes
    except (QueryFailed, QueryRefused) as error:
        notes = (str(error),)
    return {
        "id": query.id,
        "title": query.title,
        "answers": query.answers,
        "measure": query.measure,
        "columns": [_column_facts(column) for column in query.columns],
        "rows": rows,
        "notes": [*query.notes, *notes],
        **reproduction_of_query(query, parameters),
    }


def _finding_facts(finding: Finding) -> Facts:
    columns = {column.name: column for column in finding.columns or finding.query.columns}
    shown = [columns[name] for name in finding.evidence_columns]
    return {
        "id": finding.query.id,
        "title": finding.advice.title,
        "measure": finding.savings.measure,
        "saves": finding.savings.text,
        "share": finding.share,
        "doubt": finding.savings.doubt,
        "remedies": dict(finding.remedies),
        "columns": [_column_facts(column) for column in shown],
        "rows": _evidence(finding.rows, finding.evidence_columns),
        "rowCount": len(finding.rows),
        **reproduction_of_query(finding.query, {"compilation": finding.compilation}),
    }


def _column_facts(column: Column) -> Facts:
    return {"name": column.name, "type": str(column.type), "isBytes": column.is_bytes}


def _evidence(rows: Sequence[Mapping[str, Cell]], columns: Sequence[str]) -> list[list[Cell]]:
    return [[row[column] for column in columns] for row in rows[:ROWS_SHOWN]]


def _answered(catalogue: Mapping[str, Query]) -> list[Query]:
    """Return the queries for tables that need no more than a compilation."""
    return [
        query
        for query in catalogue.values()
        if query.kind == "table"
        and {each.name for each in query.parameters if each.required} == {"compilation"}
    ]


def _parameters(stored: StoredCompilation) -> dict[str, Scalar]:
    return {"compilation": stored.key, "limit": ROWS_SHOWN}
