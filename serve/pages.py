"""The pages of the service: the start page and reports, built on request."""

import hashlib
from collections.abc import Callable
from functools import partial
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from xlagraph.report import html_document
from xlagraph.serve.api import PACKED
from xlagraph.serve.readers.jobs import Job, Lane
from xlagraph.serve.readers.workers import Workers
from xlagraph.serve.responses import HeldBytes, PiecedResponse, read_for

_HEAD: Final = """\
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{root}/page/{digest}/page.css">"""
_NAVIGATION: Final = """\
<nav class="pages" aria-label="pages" data-root="{root}">
<a class="name" href="{root}/">xlagraph</a>
<a href="{root}/">Runs</a>
<a href="{root}/queries">Queries</a>
<a href="{root}/cypher">Cypher</a>
</nav>"""
_BODY: Final = """\
{navigation}
<div id="page"></div>
<noscript>This page needs JavaScript; `xlagraph report` writes one that does without.</noscript>
<script type="module" src="{root}/page/{digest}/{script}"></script>"""
_A_YEAR: Final = "public, max-age=31536000, immutable"


def routes(workers: Workers, held: HeldBytes) -> list[BaseRoute]:
    """Return the routes of the pages over a graph."""
    folder = files("xlagraph.report") / "page"
    digest = _digest(folder)

    def packed(job_of: Callable[[Request], Job]) -> Callable[..., object]:
        async def respond(request: Request) -> Response:
            answer = await read_for(request, workers, job_of(request))
            if answer.is_refusal:
                return PlainTextResponse(answer.body.decode(), answer.status)
            return PiecedResponse(answer.body, held, "application/gzip", {})

        return respond

    def page(path: str, script: str) -> Route:
        return Route(path, partial(_document, script=script, digest=digest), middleware=PACKED)

    return [
        *(page(path, "service/main.js") for path in ("/", "/queries", "/cypher")),
        page("/query/{id:path}", "service/main.js"),
        Route("/view/{name:path}/parts/{part:path}", packed(_view_part)),
        Route("/compare/{a:path}//{b:path}/parts/{part:path}", packed(_comparison_part)),
        page("/view/{name:path}/", "main.js"),
        page("/compare/{a:path}//{b:path}/", "main.js"),
        Route("/view/{name:path}", _with_slash),
        Route("/compare/{a:path}//{b:path}", _with_slash),
        # what a page imports lies next to it, so that it is of the same digest
        Mount(f"/page/{digest}", _PageFiles(_A_YEAR), middleware=PACKED),
        Mount("/page", _PageFiles("no-cache"), middleware=PACKED),
    ]


def _view_part(request: Request) -> Job:
    return Job("view part", dict(request.path_params), Lane.QUERIES, is_long=True)


def _comparison_part(request: Request) -> Job:
    return Job("comparison part", dict(request.path_params), Lane.QUERIES, is_long=True)


async def _document(request: Request, script: str, digest: str) -> Response:
    root = escape(quote(str(request.scope.get("root_path", ""))))
    head = _HEAD.format(root=root, digest=digest)
    body = _BODY.format(
        navigation=_NAVIGATION.format(root=root), root=root, digest=digest, script=script
    )
    return HTMLResponse(html_document("served", title=_title(request), head=head, body=body))


def _title(request: Request) -> str:
    """Return a page's title, which names what it shows."""
    named = request.path_params
    if "a" in named:
        return f"{named['a']} and {named['b']} – xlagraph"
    subject = named.get("name") or named.get("id") or request.scope["path"].rpartition("/")[2]
    return (
        f"{str(subject).capitalize() if not named else subject} – xlagraph"
        if subject
        else "Runs – xlagraph"
    )


def unknown_page(request: Request, message: str) -> Response:
    """Return a page about an address that does not exist, with links to those that do."""
    root = escape(quote(str(request.scope.get("root_path", ""))))
    folder = files("xlagraph.report") / "page"
    text = escape(message.encode(errors="replace").decode())
    body = f'{_NAVIGATION.format(root=root)}\n<main class="list service"><h1>{text}</h1></main>'
    head = _HEAD.format(root=root, digest=_digest(folder))
    document = html_document("served", title="Not found – xlagraph", head=head, body=body)
    return HTMLResponse(document, 404)


async def _with_slash(request: Request) -> Response:
    """Redirect to the page's address with a slash at its end."""
    return RedirectResponse(quote(request.scope["path"]) + "/", 308)


class _PageFiles(StaticFiles):
    """Scripts and styles with their cache headers."""

    def __init__(self, kept: str) -> None:
        super().__init__(packages=[("xlagraph.report", "page")])
        self._kept = kept

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file, or status 304 if it is unchanged."""
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = self._kept
        if tag := response.headers.get("etag"):
            response.headers["ETag"] = f"W/{tag}"  # packed or not, it is one file
        return response


def _digest(folder: Traversable) -> str:
    """Return a name for the content of all files below a folder."""
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        digest.update(file.name.encode())
        digest.update(_digest(file).encode() if file.is_dir() else file.read_bytes())
    return digest.hexdigest()[:16]
