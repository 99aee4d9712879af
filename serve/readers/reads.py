"""The reads of a graph by name, shared by the API, the pages and assistants.

Separate processes run them, see `worker_program`. Each returns rows with notes, or bytes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Concatenate, Final, NamedTuple

from xlagraph.graph import Cell, Graph
from xlagraph.graph.row_cells import without_nan
from xlagraph.queries import (
    Answer,
    advise,
    compare,
    comparison_result,
    diagnosis_result,
    find_compilation,
    list_runs,
    run,
    run_statement,
    select,
    value,
    value_cells,
    with_planned_donations,
)
from xlagraph.report import (
    advice_and_answers,
    compare_sides,
    comparison_part,
    compilation_part,
    overview_part,
    read_totals,
)
from xlagraph.serve.readers.jobs import Catalogue
from xlagraph.serve.readers.json_rows import answer_result, json_rows
from xlagraph.serve.readers.service_limits import MOST_ANSWER_BYTES, MOST_ROWS, MOST_SECONDS

__all__ = ["READS", "JsonRows"]

_ANSWERS: Final = "answers/"
"""Prefix of the parts with the answers of canned queries, which take a while."""
_MOST_NOTES: Final = 10
"""Most notes in a header, which has little room."""


class JsonRows(NamedTuple):
    """Rows as JSON values, with notes."""

    rows: Sequence[Cell]
    notes: Sequence[str] = ()
    is_one: bool = False
    """True if the answer is one object and not a list."""


def _ready(graph: Graph, catalogue: Catalogue) -> JsonRows:
    del catalogue
    list_runs(graph)
    return JsonRows([{"status": "ready"}], is_one=True)


def _runs(graph: Graph, catalogue: Catalogue) -> JsonRows:
    del catalogue
    return JsonRows(json_rows(list_runs(graph)))


def _canned(
    graph: Graph,
    catalogue: Catalogue,
    query: str,
    parameters: Mapping[str, str | int | float | bool],
) -> JsonRows:
    answer = run(graph, query, catalogue=catalogue, **parameters)
    return _answered(with_planned_donations(graph, answer))


def _answered(answer: Answer) -> JsonRows:
    return JsonRows(json_rows(answer_result(answer)), answer.notes)


def _compilations(graph: Graph, catalogue: Catalogue, name: str) -> JsonRows:
    return _canned(graph, catalogue, "overview/compilations", {"run": name})


def _compared(graph: Graph, catalogue: Catalogue, a: str, b: str) -> JsonRows:
    del catalogue
    return JsonRows(json_rows(comparison_result(compare(graph, a, b))))


def _advised(graph: Graph, catalogue: Catalogue, key: str | None) -> JsonRows:
    diagnosis = advise(graph, key, catalogue=catalogue)
    notes = (*diagnosis.notes, *diagnosis.problems)
    return JsonRows(json_rows(diagnosis_result(diagnosis)), notes)


def _details(graph: Graph, catalogue: Catalogue, label: str, key: str | None) -> JsonRows:
    del catalogue
    return JsonRows([without_nan(value_cells(value(graph, label, key)))], is_one=True)


def _statement(
    graph: Graph, catalogue: Catalogue, text: str, parameters: Mapping[str, Cell]
) -> JsonRows:
    del catalogue
    result, notes = run_statement(
        graph,
        text,
        parameters,
        timeout_seconds=MOST_SECONDS,
        max_rows=MOST_ROWS,
        max_bytes=MOST_ANSWER_BYTES,
    )
    return JsonRows(json_rows(result), notes[:_MOST_NOTES])


def _view_part(graph: Graph, catalogue: Catalogue, name: str, part: str) -> bytes:
    if part == "start":
        selection = select(graph, name)
        return _overview(graph, selection.compilations, selection.name)
    return _compilation_part(graph, catalogue, part)


def _comparison_part(graph: Graph, catalogue: Catalogue, a: str, b: str, part: str) -> bytes:
    if part == "start":
        return comparison_part(graph, compare_sides(graph, a, b)).packed()
    if part == "compilations":
        keys = [key for side in (a, b) for key in select(graph, side).compilations]
        return _overview(graph, keys, f"{a} and {b}")
    return _compilation_part(graph, catalogue, part)


def _overview(graph: Graph, compilations: Sequence[str], title: str) -> bytes:
    totals = read_totals(graph, compilations)
    return overview_part(totals, title=title, location=graph.location).packed()


def _compilation_part(graph: Graph, catalogue: Catalogue, part: str) -> bytes:
    if part.startswith(_ANSWERS):
        key = find_compilation(graph, part.removeprefix(_ANSWERS)).key
        return advice_and_answers(graph, key, catalogue).packed()
    return compilation_part(graph, find_compilation(graph, part).key).packed(is_kept=False)


READS: Final[Mapping[str, Callable[Concatenate[Graph, Catalogue, ...], JsonRows | bytes]]] = {
    "ready": _ready,
    "runs": _runs,
    "compilations": _compilations,
    "canned": _canned,
    "compare": _compared,
    "advise": _advised,
    "value": _details,
    "statement": _statement,
    "view part": _view_part,
    "comparison part": _comparison_part,
}
