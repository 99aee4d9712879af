"""The reads of a graph by name, shared by the API, the pages and assistants.

Each returns rows with notes, or bytes. Separate processes run them: a statement may overflow the
engine's stack, use all memory or never finish. The process is then ended and another one started.
"""

import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Concatenate, Final, NamedTuple, cast

from xlagraph.graph import Cell, Graph, GraphError, QueryFailed, QueryRefused, open_graph
from xlagraph.graph.asked_once import AskedOnce
from xlagraph.graph.row_cells import without_nan
from xlagraph.queries import (
    Answer,
    BadParameter,
    QueryError,
    UnknownQuery,
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
from xlagraph.serve.readers.jobs import Catalogue, Form, Job, ReadAnswer, Setup
from xlagraph.serve.readers.json_rows import (
    answer_result,
    json_array,
    json_lines,
    json_object,
    json_rows,
)
from xlagraph.serve.readers.service_limits import MOST_ANSWER_BYTES, MOST_ROWS, MOST_SECONDS

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
        return advice_and_answers(AskedOnce(graph), key, catalogue)[1].packed()
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


def answers(tasks: Iterator[object]) -> Iterator[bytes]:
    """Yield whether the graph of a setup, the first task, can be opened, then each job's answer."""
    setup = cast("Setup", next(tasks))
    os.nice(setup.niceness)
    try:
        graph = open_graph(setup.location, ask_password=lambda _: setup.password)
    except GraphError as error:
        yield ReadAnswer.refusal(503, str(error)).encoded()
        return
    yield ReadAnswer(200, b"").encoded()
    for job in cast("Iterator[Job]", tasks):
        yield _answer(graph, setup.catalogue, job).encoded()


def _answer(graph: Graph, catalogue: Catalogue, job: Job) -> ReadAnswer:
    try:
        return _written(READS[job.read](graph, catalogue, **job.arguments), job.form)
    except UnknownQuery as error:
        return ReadAnswer.refusal(404, str(error))
    except (BadParameter, QueryRefused, QueryFailed) as error:
        return ReadAnswer.refusal(400, str(error))
    except QueryError as error:  # no run, compilation or value of that name, or several
        return ReadAnswer.refusal(404, str(error))
    except GraphError as error:
        return ReadAnswer.refusal(503, str(error))
    except MemoryError:
        return ReadAnswer.refusal(400, "the read needs more memory than available; request less")
    except Exception as error:  # noqa: BLE001  the border of this process
        traceback.print_exc()
        return ReadAnswer.refusal(500, f"{type(error).__name__} (this is a defect of xlagraph)")


def _written(found: JsonRows | bytes, form: Form) -> ReadAnswer:
    if isinstance(found, bytes):
        return ReadAnswer(200, found)
    notes = tuple(found.notes)
    if form is Form.LINES:
        return ReadAnswer(200, json_lines(found.rows, notes))
    body = json_object(found.rows[0]) if found.is_one else json_array(found.rows)
    return ReadAnswer(200, body, notes)
