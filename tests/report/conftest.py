"""Fixtures of the report: pages without network access, and tiny runs."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser_fixtures import PATIENCE
from tests.tiny_dumps import write_padded_run, write_runs
from xlagraph.graph import Graph, open_graph
from xlagraph.ingest import ingest
from xlagraph.report import make_report

OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Open a file; the test fails if the page logs an error or requests another address."""
    complaints: list[str] = []
    contexts = []

    def open_file(path: Path, fragment: str = "", **settings: Any) -> Page:
        context = browser.new_context(
            offline=True, viewport={"width": 1400, "height": 900}, **settings
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda message: complaints.append(message.text) if message.type == "error" else None,
        )
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith(("file:", "data:", "blob:"))
                else complaints.append(request.url)
            ),
        )
        page.goto(f"{path.as_uri()}{fragment}")
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def tiny_graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """Return a graph with the runs `before`, `after` and `padded`."""
    folder = tmp_path_factory.mktemp("tiny")
    with open_graph(folder / "graph.lbug", create=True) as graph:
        write_runs(folder / "runs")
        assert ingest(graph, write_padded_run(folder / "runs"), jobs=1).ok
        yield graph


@pytest.fixture(scope="session")
def write_report(
    tiny_graph: Graph, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Path]:
    """Write the report of runs or compilations of the tiny graph, each once."""
    folder = tmp_path_factory.mktemp("reports")

    def write(*names: str) -> Path:
        path = folder / f"{'+'.join(names).replace('/', '_') or 'all'}.html"
        if not path.exists():
            path.write_text(make_report(tiny_graph, names).html, encoding="utf-8")
        return path

    return write
