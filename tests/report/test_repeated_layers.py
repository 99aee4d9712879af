"""Repeated layers are shown as one with the bytes of all, and can be unfolded."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.report.conftest import OpenPage
from tests.tiny_dumps import write_dump
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.report import make_report

HEAD = "BufferAssignment:\nallocation 0: size {total}, preallocated-temp:\n"
SLOT = " value: <{n} dot.{n} @0> (size={size},offset={offset}): f32[{elements}]{{0}}\n"
USED = """\
<{n} dot.{n} @0>
 positions:
  dot.{n}
 uses:
 from instruction: %dot.{n} = f32[{elements}]{{0}} fusion(), kind=kLoop, calls=%f, \
metadata={{op_name="jit(f)/h_{n}/dot" source_file="/home/me/net.py" source_line=5}}
"""


def layered(layers: int, size: int) -> str:
    """Write a dump with one value for each layer, all of them live to the end."""
    facts = [
        {"n": n, "size": size, "elements": size // 4, "offset": n * size} for n in range(layers)
    ]
    total = layers * size
    return "".join(
        (
            HEAD.format(total=total),
            *(SLOT.format(**each) for each in facts),
            f"\nTotal bytes used: {total} ({total}B)\n\nUsed values:\n",
            *(USED.format(**each) for each in facts),
            f"\n\nHloLiveRange (max {layers}):\n  InstructionSequence:\n",
            *(f"    {n}:dot.{n}\n" for n in range(layers)),
            "  BufferLiveRange:\n",
            *(f"    dot.{n}{{}}:{n}-{layers}\n" for n in range(layers)),
            f"  Live ranges at {layers - 1} (peak):\n",
            *(
                f"    dot.{n}{{}}: {size} bytes (cumulative: {(n + 1) * size} bytes)\n"
                for n in range(layers)
            ),
        )
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the reports of a run of twelve layers, and of its growth."""
    folder = tmp_path_factory.mktemp("layers")
    for run, size in (("narrow", 64), ("wide", 128)):
        write_dump(folder / "runs" / run, 1, "jit_f", layered(12, size))
    with open_graph(folder / "graph.lbug", create=True) as graph:
        assert ingest(graph, folder / "runs", jobs=1).ok
        for name, runs in (("one", ["narrow"]), ("two", ["narrow", "wide"])):
            (folder / f"{name}.html").write_text(make_report(graph, runs).html, encoding="utf-8")
    return folder


@pytest.fixture
def layers(open_page: OpenPage, folder: Path) -> Page:
    return open_page(folder / "one.html")


def scopes(page: Page) -> object:
    """Return the branches of the icicle below its outermost scope with their bytes."""
    return page.evaluate(
        "[...window.xlagraphView.holders.root.children.get('jit(f)').children.values()]"
        ".map(({name, bytes}) => [name, bytes])"
    )


def test_layers_are_one_scope_of_the_icicle_until_they_are_unfolded(layers: Page) -> None:
    assert scopes(layers) == [["h_#", 12 * 64]]
    layers.get_by_label("fold repeated layers").uncheck()
    assert scopes(layers) == [[f"h_{n}", 64] for n in range(12)]
    expect(layers).to_have_url(re.compile("layers=all"))


def test_the_icicle_shows_how_many_layers_it_folds(layers: Page) -> None:
    layers.locator("canvas.icicle").focus()
    for _ in range(2):
        layers.keyboard.press("ArrowDown")
    expect(layers.locator("#announcer")).to_have_text("h_0 … h_11 ×12: 768 B, 100.0%")
    layers.keyboard.press("Enter")
    expect(layers.locator(".chips")).to_contain_text("jit(f)/h_#")
    assert layers.evaluate("window.xlagraphView.scene.found.count") == 12


def test_the_largest_values_of_all_layers_are_one_entry_that_unfolds(layers: Page) -> None:
    entries = layers.locator(".largest > li")
    expect(entries).to_have_count(1)
    expect(entries).to_contain_text("×12 768 B")
    expect(entries).to_contain_text("jit(f)/h_#/dot")
    expect(entries).to_contain_text("net.py:5 · f32[16]")
    entries.locator("summary").click()
    expect(entries.locator("li")).to_have_count(12)
    entries.get_by_role("button", name="dot.7", exact=True).click()
    expect(layers.locator("article.details h2")).to_have_text("dot.7")


def test_a_link_keeps_layers_unfolded(open_page: OpenPage, folder: Path) -> None:
    page = open_page(folder / "one.html", "#layers=all")
    expect(page.get_by_label("fold repeated layers")).not_to_be_checked()
    expect(page.locator(".largest > li")).to_have_count(12)


def test_layers_are_one_bar_of_a_comparison(open_page: OpenPage, folder: Path) -> None:
    page = open_page(folder / "two.html", "#by=op")
    bars = page.locator("button.waterbar")
    expect(bars).to_have_count(1)
    expect(bars).to_contain_text("jit(f)/h_0 … h_11 ×12/dot")
    expect(bars).to_contain_text("+768 B")
    bars.click()
    expect(page.locator(".behind .grid .count")).to_have_text("24 rows")
    page.get_by_label("fold repeated layers").uncheck()
    expect(bars).to_have_count(12)
