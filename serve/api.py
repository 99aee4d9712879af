"""The JSON API: what the commands print with `--format json`, for a browser and for scripts."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final, cast

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from xlagraph.graph import Cell, Graph, GraphError, QueryFailed, QueryRefused, Result
from xlagraph.graph.row_cells import without_nan
from xlagraph.queries import (
    BadParameter,
    Query,
    QueryError,
    UnknownQuery,
    advise,
    compare,
    comparison_result,
    diagnosis_result,
    find_query,
    list_runs,
    run,
    run_statement,
    value,
    value_cells,
)
from xlagraph.serve.graph_pool import GraphPool
from xlagraph.serve.json_cells import answer_result, json_rows, query_description
from xlagraph.serve.openapi import describe_api
from xlagraph.serve.request_limits import MOST_BODY_BYTES, MOST_ROWS, MOST_SECONDS

__all__ = ["routes"]

_MOST_NOTES: Final = 10
"""A header has little room, a statement for many wrong names."""
_NOTES: Final = "X-Xlagraph-Notes"
"""Header with what helps to read the rows, as JSON in ASCII."""

_Answer = Callable[[Request], Awaitable[Response]]


class BadRequest(ValueError):
    """A request that means nothing; the message says what to send."""


class _Rows(Response):
    """Rows as one array of objects, a note for those who read them in a header."""

    media_type = "application/json"

    def __init__(self, result: Result, notes: Sequence[str] = ()) -> None:
        headers = {_NOTES: json.dumps(list(notes))} if notes else None
        super().__init__(json.dumps(json_rows(result), ensure_ascii=False) + "\n", headers=headers)


def routes(pool: GraphPool, catalogue: Mapping[str, Query]) -> list[Route]:
    """Return the routes of the API over a graph and a catalogue."""

    def with_graph(answer: Callable[[Graph, Request], Response]) -> _Answer:
        async def respond(request: Request) -> Response:
            def read() -> Response:
                with pool.borrow() as graph:
                    return answer(graph, request)

            return await _answered(read)

        return respond

    return [
        Route("/healthz", _fixed({"status": "ok"})),
        Route("/api", _fixed(describe_api(catalogue))),
        Route("/api/queries", _fixed([query_description(query) for query in catalogue.values()])),
        Route("/api/query/{id:path}", with_graph(partial(_canned, catalogue=catalogue))),
        Route("/api/cypher", partial(_cypher, pool=pool), methods=["POST"]),
        Route("/api/runs", with_graph(_runs)),
        Route("/api/compilations", with_graph(partial(_compilations, catalogue=catalogue))),
        Route("/api/compare", with_graph(_compared)),
        Route("/api/advise/{key:path}", with_graph(partial(_advised, catalogue=catalogue))),
        Route("/api/value/{key:path}", with_graph(_details)),
    ]


def _fixed(answer: object) -> _Answer:
    """Return an endpoint whose answer is the same as long as the service runs."""

    async def respond(request: Request) -> Response:
        del request
        return JSONResponse(answer)

    return respond


async def _cypher(request: Request, pool: GraphPool) -> Response:
    try:
        text, parameters = _statement(await _body(request), request)
    except BadRequest as error:
        return _error(400, error)

    def read() -> Response:
        with pool.borrow() as graph:
            result, notes = run_statement(
                graph, text, parameters, timeout_seconds=MOST_SECONDS, max_rows=MOST_ROWS
            )
            return _Rows(result, notes[:_MOST_NOTES])

    return await _answered(read)


def _canned(graph: Graph, request: Request, catalogue: Mapping[str, Query]) -> Response:
    query = find_query(request.path_params["id"], catalogue)
    given = {name: _typed(query, name, text) for name, text in request.query_params.items()}
    answer = run(graph, query.id, catalogue=catalogue, **given)
    return _Rows(answer_result(answer), answer.notes)


def _runs(graph: Graph, request: Request) -> Response:
    del request
    return _Rows(list_runs(graph))


def _compilations(graph: Graph, request: Request, catalogue: Mapping[str, Query]) -> Response:
    name = request.query_params.get("run", "")
    answer = run(graph, "overview/compilations", catalogue=catalogue, run=name)
    return _Rows(answer_result(answer), answer.notes)


def _compared(graph: Graph, request: Request) -> Response:
    a, b = _required_parameter(request, "a"), _required_parameter(request, "b")
    return _Rows(comparison_result(compare(graph, a, b)))


def _advised(graph: Graph, request: Request, catalogue: Mapping[str, Query]) -> Response:
    diagnosis = advise(graph, request.path_params["key"], catalogue=catalogue)
    return _Rows(diagnosis_result(diagnosis), (*diagnosis.notes, *diagnosis.problems))


def _details(graph: Graph, request: Request) -> Response:
    found = value(graph, _required_parameter(request, "value"), request.path_params["key"])
    return JSONResponse(without_nan(value_cells(found)))


async def _answered(read: Callable[[], Response]) -> Response:
    try:
        return await run_in_threadpool(read)
    except UnknownQuery as error:
        return _error(404, error)
    except (BadRequest, BadParameter, QueryRefused, QueryFailed) as error:
        return _error(400, error)
    except QueryError as error:  # no run, compilation or value of that name, or several
        return _error(404, error)
    except GraphError as error:
        return _error(503, error)


def _error(code: int, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, code)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BODY_BYTES:
            raise BadRequest(f"a request has at most {MOST_BODY_BYTES:,} bytes")
    return bytes(body)


def _statement(body: bytes, request: Request) -> tuple[str, dict[str, Cell]]:
    # no form of a foreign page can send this type
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise BadRequest("expected Content-Type: application/json")
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("expected JSON in UTF-8") from None
    if not isinstance(given, dict) or not isinstance(given.get("statement"), str):
        raise BadRequest('expected {"statement": "MATCH …", "parameters": {…}}')
    if unknown := sorted(given.keys() - {"statement", "parameters"}):
        raise BadRequest(f"expected statement and parameters, found {unknown[0][:80]}")
    parameters = given.get("parameters") or {}
    if not isinstance(parameters, dict):
        raise BadRequest("expected an object of parameters by name")
    return given["statement"], cast("dict[str, Cell]", parameters)


def _required_parameter(request: Request, name: str) -> str:
    found = request.query_params.get(name, "")
    if not found:
        raise BadRequest(f"expected ?{name}=…")
    return found


def _typed(query: Query, name: str, text: str) -> "str | int | float | bool":
    """Return a parameter of a request as the type that its query declares."""
    parameter = next((parameter for parameter in query.parameters if parameter.name == name), None)
    if parameter is None:
        known = ", ".join(parameter.name for parameter in query.parameters)
        raise BadRequest(f"{query.id} has no parameter {name[:80]}; it has {known}")
    try:
        return _READ[parameter.type](text)
    except ValueError:
        raise BadRequest(f"{name} is {parameter.type}, found {text[:80]!r}") from None


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"


_READ: Final[Mapping[str, Callable[[str], str | int | float | bool]]] = {
    "STRING": str,
    "INTEGER": int,
    "FLOAT": float,
    "BOOLEAN": _boolean,
}
