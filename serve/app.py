"""The ASGI application: pages and the API over one graph, behind the guard."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware

from xlagraph.queries import Query, load_catalogue
from xlagraph.serve import api, pages
from xlagraph.serve.graph_pool import GraphPool
from xlagraph.serve.guard import Access, Guard

__all__ = ["create_app"]


def create_app(
    location: str | Path | None = None,
    *,
    access: Access | None = None,
    catalogue: Mapping[str, Query] | None = None,
    ask_password: Callable[[str], str | None] | None = None,
) -> Starlette:
    """Return the application over the graph that `open_graph` finds, which raises without one.

    The catalogue is by default that of the canned queries alone. `state.location` is where the
    graph is.
    """
    pool = GraphPool(location, ask_password)
    queries = load_catalogue() if catalogue is None else catalogue

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        pool.close()

    app = Starlette(
        routes=[
            *api.routes(pool, queries),
            *pages.routes(pool, queries),
        ],
        middleware=[Middleware(Guard, access=access or Access())],
        lifespan=lifespan,
    )
    app.state.location = pool.location
    return app
