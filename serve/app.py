"""The ASGI application: pages and the API over one graph, behind the guard."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from xlagraph.queries import Query, load_catalogue
from xlagraph.serve import api, pages
from xlagraph.serve.guard import Access, Guard
from xlagraph.serve.metrics import Metrics, Observed
from xlagraph.serve.readers.service_limits import MOST_MEMORY_BYTES
from xlagraph.serve.readers.workers import Workers
from xlagraph.serve.responses import ClientGone, HeldBytes, refused


def create_app(
    location: str | Path | None = None,
    *,
    access: Access | None = None,
    catalogue: Mapping[str, Query] | None = None,
    ask_password: Callable[[str], str | None] | None = None,
    memory_bytes: int = MOST_MEMORY_BYTES,
    log_access: Callable[[str], None] | None = None,
) -> Starlette:
    """Return the application over the graph that `open_graph` finds, which raises without one.

    The catalogue is by default that of the canned queries alone. No process that reads takes
    more than ``memory_bytes``. ``log_access`` takes a line for each request. `state.location`
    is where the graph is.
    """
    queries = load_catalogue() if catalogue is None else catalogue
    workers = Workers(location, queries, ask_password=ask_password, memory_bytes=memory_bytes)
    held = HeldBytes()
    metrics = Metrics(workers, held)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await workers.start()
        try:
            yield
        finally:
            await workers.close()

    app = Starlette(
        routes=[
            *api.routes(workers, held),
            Route("/metrics", metrics.respond),
            *pages.routes(workers, held),
        ],
        middleware=[
            Middleware(Observed, metrics=metrics, log_access=log_access),
            Middleware(Guard, access=access or Access()),
        ],
        exception_handlers={
            HTTPException: _not_answered,
            api.BadRequest: api.reject,
            ClientGone: _nobody_there,
            ClientDisconnect: _nobody_there,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.location = workers.location
    return app


async def _not_answered(request: Request, error: Exception) -> Response:
    """Answer a request with an unknown path or method."""
    assert isinstance(error, HTTPException)  # noqa: S101
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    headers = dict(error.headers or {})
    if error.status_code == 405:
        allowed = headers.get("Allow", "GET, HEAD").split(", ")
        headers["Allow"] = ", ".join(sorted({*allowed, "OPTIONS"}))
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=headers)
        message = f"{request.method[:20]} is not allowed here; expected {headers['Allow']}"
    elif error.status_code == 404:
        message = f"{path[:200]} does not exist; /api lists the addresses"
    else:
        message = error.detail
    if path == "/api" or path.startswith("/api/"):
        return refused(error.status_code, message, headers)
    if error.status_code == 404 and "text/html" in request.headers.get("accept", ""):
        return pages.unknown_page(request, message)
    return PlainTextResponse(message.encode(errors="replace"), error.status_code, headers)


async def _nobody_there(request: Request, error: Exception) -> Response:
    """Answer a client that has disconnected; nothing is sent."""
    del request, error
    return Response(status_code=499)
