"""The pages of the service: its own, and those of reports, whose parts are made when asked for."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from xlagraph.graph import Graph, GraphError
from xlagraph.queries import Query, QueryError, find_compilation, select
from xlagraph.report import (
    Part,
    advice_and_answers,
    compare_sides,
    comparison_part,
    compilation_part,
    html_document,
    overview_part,
    read_totals,
)
from xlagraph.serve.graph_pool import GraphPool

__all__ = ["routes"]

_ANSWERS: Final = "answers/"
"""Begins the part with what canned queries answer about a compilation; they take a while."""

_HEAD: Final = """\
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page/page.css">"""
_BODY: Final = """\
<nav class="pages" aria-label="pages">
<a class="name" href="/">xlagraph</a>
<a href="/">Runs</a>
<a href="/queries">Queries</a>
<a href="/cypher">Cypher</a>
</nav>
<div id="page"></div>
<noscript>This page needs JavaScript; `xlagraph report` writes one that does without.</noscript>
<script type="module" src="/page/{script}"></script>"""


def routes(pool: GraphPool, catalogue: Mapping[str, Query]) -> list[BaseRoute]:
    """Return the routes of the pages over a graph, which answer the queries of a catalogue."""

    def packed(make: Callable[[Graph, Request], bytes]) -> Callable[..., object]:
        async def respond(request: Request) -> Response:
            def read() -> bytes:
                with pool.borrow() as graph:
                    return make(graph, request)

            try:
                return Response(await run_in_threadpool(read), media_type="application/gzip")
            except QueryError as error:
                return PlainTextResponse(str(error), 404)
            except GraphError as error:
                return PlainTextResponse(str(error), 503)

        return respond

    def of_view(graph: Graph, request: Request) -> bytes:
        part = request.path_params["part"]
        if part == "start":
            selection = select(graph, request.path_params["name"])
            return _overview(graph, selection.compilations, selection.name)
        return _compilation(graph, part, catalogue)

    def of_comparison(graph: Graph, request: Request) -> bytes:
        part = request.path_params["part"]
        a, b = request.path_params["a"], request.path_params["b"]
        if part == "start":
            return comparison_part(graph, compare_sides(graph, a, b)).packed()
        if part == "compilations":
            keys = [key for side in (a, b) for key in select(graph, side).compilations]
            return _overview(graph, keys, f"{a} and {b}")
        return _compilation(graph, part, catalogue)

    return [
        *(
            Route(path, partial(_document, script="service/main.js"))
            for path in ("/", "/queries", "/cypher", "/query/{id:path}")
        ),
        Route("/view/{name:path}/parts/{part:path}", packed(of_view)),
        Route("/compare/{a:path}//{b:path}/parts/{part:path}", packed(of_comparison)),
        Route("/view/{name:path}/", partial(_document, script="main.js")),
        Route("/compare/{a:path}//{b:path}/", partial(_document, script="main.js")),
        Mount("/page", StaticFiles(packages=[("xlagraph.report", "page")])),
    ]


def _overview(graph: Graph, compilations: Sequence[str], title: str) -> bytes:
    totals = read_totals(graph, compilations)
    return overview_part(totals, title=title, location=graph.location).packed()


def _compilation(graph: Graph, part: str, catalogue: Mapping[str, Query]) -> bytes:
    if part.startswith(_ANSWERS):
        key = find_compilation(graph, part.removeprefix(_ANSWERS)).key
        return Part(advice_and_answers(graph, key, catalogue), {}).packed()
    return compilation_part(graph, find_compilation(graph, part).key).packed(is_kept=False)


async def _document(request: Request, script: str) -> Response:
    del request
    body = _BODY.format(script=script)
    return HTMLResponse(html_document("served", title="xlagraph", head=_HEAD, body=body))
