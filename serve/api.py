"""The JSON API: the same answers as `--format json` on the command line."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, cast

from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from xlagraph.graph import Cell, QueryFailed
from xlagraph.queries import Query, UnknownQuery, find_query
from xlagraph.serve.openapi import describe_api
from xlagraph.serve.readers.jobs import Job, Lane, ReadAnswer, statement_job
from xlagraph.serve.readers.json_rows import query_description
from xlagraph.serve.readers.service_limits import BODY_SECONDS, MOST_BODY_BYTES
from xlagraph.serve.readers.workers import Workers
from xlagraph.serve.responses import (
    HeldBytes,
    PiecedResponse,
    entity_tag,
    is_unchanged,
    read_for,
    refused,
)

PACKED: Final = (Middleware(GZipMiddleware, compresslevel=5),)
"""Compression of text responses, for clients that accept it."""
_JSON: Final = "application/json"
_NOTES: Final = "X-Xlagraph-Notes"
"""Header with notes on the rows, as JSON in ASCII."""

_Endpoint = Callable[[Request], Awaitable[Response]]


class BadRequest(ValueError):
    """A malformed request; the message says what to send."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


async def reject(_: Request, error: Exception) -> Response:
    """Answer a malformed request."""
    assert isinstance(error, BadRequest)  # noqa: S101
    return refused(error.status, str(error))


def routes(workers: Workers, held: HeldBytes) -> list[Route]:
    """Return the routes of the API over a graph."""
    catalogue = workers.catalogue

    def reading(job_of: Callable[[Request], Job]) -> _Endpoint:
        async def respond(request: Request) -> Response:
            job = job_of(request)
            state = workers.version
            if state is None:
                return _response(await read_for(request, workers, job), held, {})
            # private: what the token of one caller allows is not for others
            tag = entity_tag(state, request.url.path, request.url.query)
            headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
            if is_unchanged(request, tag):
                return Response(status_code=304, headers=headers)
            return _response(await read_for(request, workers, job), held, headers)

        return respond

    async def ready(request: Request) -> Response:
        _given(request)
        return _response(await read_for(request, workers, Job("ready")), held, {})

    async def cypher(request: Request) -> Response:
        _given(request)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                job = statement_job(*_statement(await _body(request), request))
        except QueryFailed as error:
            return refused(400, str(error))
        except TimeoutError:
            message = f"the body of a request must arrive within {BODY_SECONDS:.0f} s"
            return refused(408, message, {"Connection": "close"})
        return _response(await read_for(request, workers, job), held, {})

    paths: list[tuple[str, _Endpoint]] = [
        ("/healthz", _fixed({"status": "ok"}, "no-store")),
        ("/readyz", ready),
        ("/api", _fixed(describe_api(catalogue), "no-cache")),
        (
            "/api/queries",
            _fixed([query_description(query) for query in catalogue.values()], "no-cache"),
        ),
        ("/api/query/{id:path}", reading(partial(_canned, catalogue=catalogue))),
        ("/api/runs", reading(_runs)),
        ("/api/compilations", reading(_compilations)),
        ("/api/compare", reading(_compared)),
        ("/api/advise/{key:path}", reading(_advised)),
        ("/api/value/{key:path}", reading(_details)),
    ]
    return [
        *(Route(path, endpoint, middleware=PACKED) for path, endpoint in paths),
        Route("/api/cypher", cypher, methods=["POST"], middleware=PACKED),
    ]


def _fixed(answer: object, kept: str) -> _Endpoint:
    """Return an endpoint whose answer never changes while the service runs."""
    body = json.dumps(answer, ensure_ascii=False).encode() + b"\n"
    headers = {"ETag": entity_tag(body), "Cache-Control": kept}

    async def respond(request: Request) -> Response:
        _given(request)
        if is_unchanged(request, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type=_JSON)

    return respond


def _response(answer: ReadAnswer, held: HeldBytes, headers: Mapping[str, str]) -> Response:
    if answer.is_refusal:
        later = {"Retry-After": "5"} if answer.status == 503 else None
        return refused(answer.status, answer.body.decode(), later)
    notes = {_NOTES: json.dumps(answer.notes)} if answer.notes else {}
    return PiecedResponse(answer.body, held, _JSON, {**headers, **notes})


def _runs(request: Request) -> Job:
    _given(request)
    return Job("runs")


def _compilations(request: Request) -> Job:
    given = _given(request, optional=("run",))
    return Job("compilations", {"name": given.get("run", "")})


def _compared(request: Request) -> Job:
    given = _given(request, required=("a", "b"))
    return Job("compare", {"a": given["a"], "b": given["b"]}, Lane.QUERIES)


def _advised(request: Request) -> Job:
    _given(request)
    return Job("advise", {"key": request.path_params["key"]}, Lane.QUERIES, is_long=True)


def _details(request: Request) -> Job:
    given = _given(request, required=("value",))
    return Job("value", {"label": given["value"], "key": request.path_params["key"]})


def _canned(request: Request, catalogue: Mapping[str, Query]) -> Job:
    try:
        query = find_query(request.path_params["id"], catalogue)
    except UnknownQuery as error:
        raise BadRequest(str(error), 404) from None
    given = _given(request, optional=tuple(each.name for each in query.parameters))
    parameters: Mapping[str, Cell] = {
        name: _typed(query, name, text) for name, text in given.items()
    }
    return Job("canned", {"query": query.id, "parameters": parameters}, Lane.QUERIES)


def _given(
    request: Request, *, required: tuple[str, ...] = (), optional: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return the query parameters; BadRequest for unknown or repeated ones."""
    given: dict[str, str] = {}
    known = (*required, *optional)
    for name, text in request.query_params.multi_items():
        if name not in known:
            raise BadRequest(
                f"there is no parameter {name[:80]}; expected {', '.join(known) or 'none'}"
            )
        if name in given:
            raise BadRequest(f"expected {name} once, found it several times")
        given[name] = text
    for name in required:
        if not given.get(name):
            raise BadRequest(f"expected ?{name}=…")
    return given


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BODY_BYTES:
            raise BadRequest(f"a request has at most {MOST_BODY_BYTES:,} bytes", 413)
    return bytes(body)


def _statement(body: bytes, request: Request) -> tuple[str, dict[str, Cell]]:
    # no form of a foreign page can send this type
    if request.headers.get("content-type", "").partition(";")[0].strip() != _JSON:
        raise BadRequest("expected Content-Type: application/json", 415)
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("expected JSON in UTF-8, nested less than 1,000 deep") from None
    if not isinstance(given, dict) or not isinstance(given.get("statement"), str):
        raise BadRequest('expected {"statement": "MATCH …", "parameters": {…}}')
    if unknown := sorted(given.keys() - {"statement", "parameters"}):
        raise BadRequest(f"expected statement and parameters, found {unknown[0][:80]}")
    parameters = given.get("parameters") or {}
    if not isinstance(parameters, dict):
        raise BadRequest("expected an object of parameters by name")
    return given["statement"], cast("dict[str, Cell]", parameters)


def _typed(query: Query, name: str, text: str) -> "str | int | float | bool":
    """Return a parameter of a request as the type that its query declares."""
    parameter = next(parameter for parameter in query.parameters if parameter.name == name)
    try:
        return _READ[parameter.type](text)
    except ValueError:
        raise BadRequest(f"expected {parameter.type} for {name}, found {text[:80]!r}") from None


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
