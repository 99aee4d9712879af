"""The pages of the service in a real browser: no foreign requests, no errors."""

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Dialog, Page, Route, expect

from tests.axe import accessibility_faults, needs_axe
from tests.tiny_dumps import dump, write_dump, write_runs
from xlagraph.graph import open_graph
from xlagraph.ingest import IngestOptions, ingest
from xlagraph.serve import create_app

HOSTILE = 'a"b<img src=x onerror=alert(1)>&#é'


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve two runs and one with a hostile name, on a free port of this machine."""
    folder = tmp_path_factory.mktemp("pages")
    with open_graph(folder / "graph.lbug", create=True) as graph:
        assert ingest(graph, write_runs(folder / "runs"), jobs=1).ok
        hostile = write_dump(folder / "hostile", 1, "jit_f", dump(256, op='jit(f)/</script><b>"'))
        assert ingest(graph, hostile, IngestOptions(run=HOSTILE), jobs=1).ok
    server = uvicorn.Server(
        uvicorn.Config(create_app(folder / "graph.lbug"), port=0, log_level="critical")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not (server.started and server.servers):
        assert thread.is_alive()
        thread.join(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def shown(page: Page, address: str) -> Iterator[Page]:
    """A page that fails the test on an error or a request elsewhere."""
    problems: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        problems.append("a dialog")
        dialog.dismiss()

    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on("dialog", dismiss)
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(address) else problems.append(asked.url),
    )
    yield page
    assert problems == []


def visit(page: Page, url: str) -> None:
    page.goto(url)
    page.wait_for_selector("html[data-ready]")


def test_the_list_of_runs_links_to_one_compilation(shown: Page, address: str) -> None:
    visit(shown, f"{address}/")
    expect(shown.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    shown.get_by_role("grid", name="runs").get_by_text("before").click()
    shown.wait_for_url("**/view/before/")
    shown.locator(".barline").first.click()
    expect(shown.locator("canvas").first).to_be_visible()


def test_an_ingest_meanwhile_appears_on_the_page(shown: Page, address: str) -> None:
    def answer_as_before(route: Route) -> None:
        rows = route.fetch().json()
        route.fulfill(json=[row for row in rows if row["run"] != "after"])

    shown.clock.install()
    shown.route("**/api/**", answer_as_before)
    visit(shown, f"{address}/")
    runs = shown.get_by_role("grid", name="runs")
    expect(runs.get_by_text("before")).to_be_visible()
    expect(runs.get_by_text("after")).to_have_count(0)
    shown.unroute_all(behavior="wait")  # a request may still be answered
    shown.clock.fast_forward(5_000)
    expect(runs.get_by_text("after")).to_be_visible()


def test_two_runs_are_compared(shown: Page, address: str) -> None:
    visit(shown, f"{address}/")
    shown.get_by_label("before").select_option("before")
    shown.get_by_label("after").select_option("after")
    shown.get_by_role("button", name="compare").click()
    expect(shown.get_by_text("+192 B").first).to_be_visible()


def test_a_question_is_found_and_answered_with_its_parameters_filled_in(
    shown: Page, address: str
) -> None:
    visit(shown, f"{address}/queries")
    shown.get_by_label("find a question").fill("rise fall")
    shown.get_by_role("link", name="How does memory rise").click()
    shown.get_by_label("compilation").fill("after/module_0001")
    shown.get_by_role("button", name="ask", exact=True).click()
    expect(shown.get_by_role("img")).to_have_attribute(
        "aria-label", "Live bytes at every step of the schedule: at most 640 B"
    )
    expect(shown.locator(".series .axis span")).to_have_text(["0", "200 B", "400 B", "600 B"])
    expect(shown.locator(".series figcaption")).to_contain_text("physicalBytes")
    expect(shown.get_by_role("grid")).to_contain_text("parameter")


def test_a_statement_is_run_and_an_error_shown(shown: Page, address: str) -> None:
    visit(shown, f"{address}/cypher")
    shown.get_by_label("statement").fill("MATCH (r:Run) RETURN count(r) AS runs")
    shown.get_by_role("button", name="run", exact=True).click()
    expect(shown.get_by_role("grid", name="answer")).to_contain_text("3")


def test_a_refusal_is_shown_in_words(page: Page, address: str) -> None:
    visit(page, f"{address}/cypher")  # the browser logs the 400 as an error
    page.get_by_label("statement").fill("CREATE (:Run {key: 'x'})")
    page.get_by_role("button", name="run", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("does not read the graph")


def test_hostile_names_are_text(shown: Page, address: str) -> None:
    visit(shown, f"{address}/")
    shown.get_by_role("grid", name="runs").get_by_text(HOSTILE).click()
    shown.wait_for_url(lambda url: "/view/" in url)
    expect(shown.locator("canvas").first).to_be_visible()
    assert shown.locator("img").count() == 0


def test_pages_fit_the_screen_of_a_phone(shown: Page, address: str) -> None:
    shown.set_viewport_size({"width": 390, "height": 844})
    for path in ("/", "/queries", "/cypher", "/query/peak/by-op"):
        visit(shown, address + path)
        assert shown.evaluate("document.documentElement.scrollWidth") <= 390, Path(path)


@needs_axe
def test_everyone_can_read_the_pages_of_the_service(shown: Page, address: str) -> None:
    for path in ("/", "/queries", "/cypher", "/query/peak/by-op"):
        visit(shown, address + path)
        assert accessibility_faults(shown) == [], path


def test_a_view_that_failed_to_load_is_loaded_again_on_request(page: Page, address: str) -> None:
    busy = [True]

    def answer(route: Route) -> None:
        if busy and busy.pop():
            route.fulfill(status=503)
        else:
            route.continue_()

    page.route("**/parts/start", answer)
    visit(page, f"{address}/view/before/")
    expect(page.get_by_role("heading", name="This view cannot be shown")).to_be_visible()
    page.get_by_role("link", name="start again").click()
    expect(page.locator(".barline").first).to_be_visible()


def test_the_latest_requested_view_is_shown(shown: Page, address: str) -> None:
    slow, fast = (f"before/module_000{n}.jit_{f}.cpu_after_optimizations" for n, f in ("1f", "3g"))
    held: list[Route] = []
    shown.route(re.compile(r"/parts/before.*jit_f"), lambda route: held.append(route))
    visit(shown, f"{address}/view/before/")
    with shown.expect_request(re.compile("jit_f")):
        shown.evaluate("key => (location.hash = `c=${encodeURIComponent(key)}`)", slow)
    shown.evaluate("key => (location.hash = `c=${encodeURIComponent(key)}`)", fast)
    expect(shown.get_by_label("compilation", exact=True)).to_have_value(fast)
    held[0].continue_()
    load = """async key => {
        const main = document.querySelector('script[type=module]').src;
        await (await import(new URL('data/parts.js', main))).loadPart(key);
    }"""
    shown.evaluate(load, slow)
    assert shown.evaluate("xlagraphView.compilation.key") == fast


def test_missing_answers_are_waited_for_and_a_failure_is_shown(page: Page, address: str) -> None:
    held: list[Route] = []
    page.route("**/parts/answers**", lambda route: held.append(route))
    visit(page, f"{address}/view/before/module_0001/#tab=advice")
    expect(page.locator(".panel")).to_have_text("loading …")
    held[0].fulfill(status=503)
    expect(page.get_by_role("alert")).to_contain_text("503")


def test_arriving_answers_leave_the_open_table_and_its_filter_unchanged(
    shown: Page, address: str
) -> None:
    held: list[Route] = []
    shown.route("**/parts/answers**", lambda route: held.append(route))
    visit(shown, f"{address}/view/before/module_0001/#tab=values")
    field = shown.get_by_label("filter values")
    field.fill("nothing is called so")
    with shown.expect_response("**/parts/answers**"):
        held[0].continue_()
    expect(shown.get_by_role("tab", name=re.compile(r"advice \d"))).to_be_visible()
    expect(field).to_have_value("nothing is called so")
    expect(field).to_be_focused()
    expect(shown.locator(".grid .count")).to_have_text(re.compile("^0 of"))
    shown.get_by_role("tab", name=re.compile("advice")).click()
    expect(shown.locator(".panel")).not_to_have_text("loading …")


def test_each_page_has_its_own_title(client):
    paths = ("/", "/queries", "/cypher", "/query/peak/contributors", "/view/before/")
    titles = [
        client.get(path).text.partition("<title>")[2].partition("</title>")[0] for path in paths
    ]
    assert titles == [
        "Runs – xlagraph",
        "Queries – xlagraph",
        "Cypher – xlagraph",
        "peak/contributors – xlagraph",
        "before – xlagraph",
    ]


def test_an_unknown_address_is_a_page_with_links_for_a_browser(client):
    answer = client.get("/nothing<b>", headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert "/nothing&lt;b&gt; does not exist" in answer.text
    assert '<a href="/queries">Queries</a>' in answer.text
    assert client.get("/nothing").headers["content-type"].startswith("text/plain")
