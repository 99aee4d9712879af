"""Names in dumps and runs are shown as text: they never run or break the page."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.report.conftest import OpenPage
from tests.tiny_dumps import dump, write_dump
from xlagraph.graph import Graph, open_graph
from xlagraph.ingest import ingest
from xlagraph.report import make_report

RUN = "run <img src=x onerror='window.hacked = true'> & 'co'"
OP = (
    "jit(f)/</script><script>window.hacked = true</script><img src=x onerror='window.hacked = 1'>"
    ' it\'s a \\"quoted\\" `${window.hacked = true}` \u202egnp.exe\u2066 name'
)
MEGABYTE = "jit(f)/" + "x" * 1_000_000


@pytest.fixture(scope="module")
def hostile_graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    folder = tmp_path_factory.mktemp("hostile")
    write_dump(folder / "runs" / RUN, 1, "jit_f", dump(256, op=OP))
    write_dump(folder / "runs" / "after", 1, "jit_f", dump(512, op=MEGABYTE))
    with open_graph(folder / "graph.lbug", create=True) as graph:
        assert ingest(graph, folder / "runs", jobs=1).ok
        yield graph


def test_hostile_names_are_shown_as_text(
    hostile_graph: Graph, tmp_path: Path, open_page: OpenPage
) -> None:
    report = tmp_path / "report.html"
    report.write_text(make_report(hostile_graph, [RUN, "after"]).html, encoding="utf-8")
    assert report.stat().st_size < 2_000_000
    page = open_page(report, "#by=op")
    expect(page.locator("h1 .sideA")).to_have_text(RUN)
    expect(page.locator(".waterfall")).to_contain_text("</script><script>window.hacked")
    expect(page.locator(".waterfall")).to_contain_text("(1,000,007 characters)")
    page.locator(".pairline button").first.click()
    # the comparison, which has other fields, is shown until the compilation is loaded
    expect(page.get_by_role("searchbox", name="search values")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("window.hacked")
    page.keyboard.press("Enter")
    for shown in ("</script><script>window.hacked", 'a "quoted" `${window', "gnp.exe"):
        expect(page.locator("article.details")).to_contain_text(shown)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= 1400
