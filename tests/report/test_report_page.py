"""Actions on a report in a browser: view, point, zoom, search, pin, compare."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.report.conftest import OpenPage
from tests.tiny_dumps import BEFORE_F

WriteReport = Callable[..., Path]


@pytest.fixture
def compilation_page(open_page: OpenPage, write_report: WriteReport) -> Page:
    """Open one compilation: p (64 bytes, steps 0–3), t (256, 1–2), out (64, 2–3)."""
    return open_page(write_report("before"), f"#c={BEFORE_F}")


def shown(page: Page, expression: str) -> object:
    """Evaluate an expression on the view that the page shows."""
    return page.evaluate(f"(() => {{ const view = window.xlagraphView; return {expression}; }})()")


def box_centre(page: Page, label: str) -> tuple[float, float]:
    """Return the centre of a value on the screen."""
    box = shown(page, f"view.plots.map.boxOf(view.compilation.valueOf({label!r}))")
    frame = page.locator("canvas.overlay").bounding_box()
    assert isinstance(box, dict)
    assert frame is not None
    return (
        frame["x"] + (box["left"] + box["right"]) / 2,
        frame["y"] + (box["top"] + box["bottom"]) / 2,
    )


def click_value(page: Page, label: str) -> None:
    page.mouse.click(*box_centre(page, label))


def test_the_list_opens_the_clicked_compilation(
    open_page: OpenPage, write_report: WriteReport
) -> None:
    page = open_page(write_report("before"))
    lines = page.locator(".barline")
    expect(lines.first).to_contain_text(BEFORE_F)
    lines.first.click()
    expect(page.locator(".figurecard").first).to_contain_text("384 B")
    page.click("a.back")
    expect(page.locator("main.list h1")).to_contain_text("before")


def test_a_link_is_followed_although_the_state_waits_to_be_written(
    compilation_page: Page,
) -> None:
    # in one task of the page: its timer would run before the event of the new address
    compilation_page.evaluate(
        """() => {
          const later = window.setTimeout;
          window.setTimeout = (write) => (queueMicrotask(write), 0);
          window.xlagraphView.set({words: 't'});
          window.setTimeout = later;
          document.querySelector('a.back').click();
        }"""
    )
    expect(compilation_page.locator("main.list h1")).to_contain_text("before")


def test_figures_are_those_of_the_command_line(compilation_page: Page) -> None:
    figures = compilation_page.locator(".figurecard")
    expect(figures.nth(0)).to_contain_text("reserved384 B")
    expect(figures.nth(1)).to_contain_text("physical peak384 Bstep 2")
    assert shown(compilation_page, "[...view.scene.group.curves.total]") == [64, 320, 384, 128]


def test_pointing_at_a_box_shows_the_value(compilation_page: Page) -> None:
    compilation_page.mouse.move(*box_centre(compilation_page, "t"))
    expect(compilation_page.locator(".tip")).to_contain_text("t 256 B")
    expect(compilation_page.locator(".tip")).to_contain_text("jit(f)/layer_0/dot")
    expect(compilation_page.locator(".tip")).to_contain_text("f.py:5")


def test_pointing_at_the_timeline_shows_the_instruction(compilation_page: Page) -> None:
    frame = compilation_page.locator("canvas.timeline").bounding_box()
    assert frame is not None
    x = shown(compilation_page, "view.plots.timeline.x(1)")
    assert isinstance(x, float | int)
    compilation_page.mouse.move(frame["x"] + x, frame["y"] + 60)
    expect(compilation_page.locator(".tip")).to_contain_text("step 1 t fusion")
    expect(compilation_page.locator(".tip")).to_contain_text("physical 320 B, logical 320 B")


def test_the_figures_are_those_of_the_plan_and_of_the_list_that_xla_prints(
    compilation_page: Page,
) -> None:
    figures = compilation_page.locator(".figures")
    for text in ("physical peak384 Bstep 2", "printed by XLA"):
        expect(figures).to_contain_text(text)
    expect(figures).not_to_contain_text("unknown")


def test_a_click_pins_a_value_and_opens_its_details(compilation_page: Page) -> None:
    click_value(compilation_page, "t")
    details = compilation_page.locator("article.details")
    expect(details).to_contain_text("256 B f32[64]{0}")
    expect(details).to_contain_text("allocation 2 (temp, 256 B) of memory space 0")
    expect(details).to_contain_text("freed after step 2, its last use, by out (fusion)")
    details.get_by_role("button", name="out", exact=True).click()  # its reader
    expect(details.locator("h2")).to_have_text("out")


def test_dragging_in_the_timeline_zooms_all_plots(compilation_page: Page) -> None:
    frame = compilation_page.locator("canvas.timeline").bounding_box()
    assert frame is not None
    left, right = (
        shown(compilation_page, f"view.plots.timeline.x({step})") for step in (-0.5, 1.4)
    )
    assert isinstance(left, float | int)
    assert isinstance(right, float | int)
    compilation_page.mouse.move(frame["x"] + left, frame["y"] + 60)
    compilation_page.mouse.down()
    compilation_page.mouse.move(frame["x"] + right, frame["y"] + 60, steps=3)
    compilation_page.mouse.up()
    expect(compilation_page.locator(".chips")).to_contain_text("steps 0–")
    expect(compilation_page.locator(".tabs .about")).to_contain_text("step 1, t: 320 B")
    compilation_page.keyboard.press("0")
    expect(compilation_page.locator(".tabs .about")).to_contain_text("at the peak, step 2")


def test_the_wheel_zooms_the_map_about_the_pointer(compilation_page: Page) -> None:
    compilation_page.mouse.move(*box_centre(compilation_page, "t"))
    compilation_page.mouse.wheel(0, -300)
    expect(compilation_page.locator(".chips")).to_contain_text("bytes ")
    assert shown(compilation_page, "view.state.view.from > 0")


def test_search_finds_by_name_op_and_line(compilation_page: Page) -> None:
    compilation_page.keyboard.press("/")
    compilation_page.keyboard.type("layer_0")
    expect(compilation_page.locator(".found")).to_have_text("1 value, 256 B")
    compilation_page.keyboard.press("Enter")
    expect(compilation_page.locator("article.details h2")).to_have_text("t")
    compilation_page.fill("input[aria-label^=search]", "f.py:7")
    expect(compilation_page.locator(".found")).to_have_text("1 value, 64 B")
    compilation_page.keyboard.press("Escape")
    expect(compilation_page.locator(".found")).to_have_text("")


def test_a_link_restores_the_same_view(
    compilation_page: Page, open_page: OpenPage, write_report: WriteReport
) -> None:
    click_value(compilation_page, "t")
    compilation_page.keyboard.press("c")
    compilation_page.keyboard.press("2")
    expect(compilation_page).to_have_url(re.compile("tab=values"))
    again = open_page(write_report("before"), compilation_page.evaluate("location.hash"))
    expect(again.locator("article.details h2")).to_have_text("t")
    expect(again.get_by_role("tab", name="values")).to_have_attribute("aria-selected", "true")
    assert shown(again, "view.state.by") == "category"


def test_the_legend_fades_all_groups_except_one(compilation_page: Page) -> None:
    compilation_page.locator(".legend button", has_text="temp").click()
    assert shown(compilation_page, "[...view.scene.found.matches].filter(Boolean).length") == 1


def test_the_icicle_adds_up_to_the_peak_and_can_be_opened(compilation_page: Page) -> None:
    assert shown(compilation_page, "view.holders.root.bytes") == 384
    assert shown(
        compilation_page,
        "Object.fromEntries([...view.holders.root.children.values()].map((each) =>"
        " [each.title, each.bytes]))",
    ) == {"jit(f)": 320, "p": 64}
    compilation_page.locator("canvas.icicle").focus()
    for key in ("ArrowDown", "Enter"):
        compilation_page.keyboard.press(key)
    expect(compilation_page.locator(".chips")).to_contain_text("jit(f)")
    assert shown(compilation_page, "view.scene.found.count") == 2


def test_tables_sort_filter_and_show_the_query_behind_them(compilation_page: Page) -> None:
    compilation_page.keyboard.press("2")
    rows = compilation_page.locator(".panel .rows .row")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("t")
    compilation_page.get_by_role("columnheader", name="value").click()
    expect(rows.first).to_contain_text("out")
    compilation_page.fill("input[aria-label='filter values']", "f.py:5")
    expect(rows).to_have_count(1)
    compilation_page.click("text=Cypher and command")
    expect(compilation_page.locator(".provenance")).to_contain_text(
        f"xlagraph query lifetime/live-at {BEFORE_F} --step 2"
    )


def test_advice_shows_each_finding_with_its_bytes_and_its_evidence(
    open_page: OpenPage, write_report: WriteReport
) -> None:
    page = open_page(write_report("padded"), "#c=padded/f")
    page.get_by_role("tab", name="advice 1").click()
    finding = page.locator("details.finding")
    summary = finding.locator("summary").first
    expect(summary).to_contain_text("Padding fills the peak")
    expect(summary).to_contain_text("up to 8.0 KiB, 99.8% of the peak")
    summary.click()
    expect(finding).to_contain_text("Not certain: ")
    expect(finding.locator(".rows .row")).to_have_count(1)
    expect(finding.locator(".rows .row")).to_contain_text("s8[16,1]")


def test_canned_queries_are_shown_with_their_cypher(compilation_page: Page) -> None:
    compilation_page.keyboard.press("5")
    compilation_page.click("nav.themes button:has-text('peak/contributors')")
    expect(compilation_page.locator(".answer")).to_contain_text("What is biggest at the peak")
    compilation_page.locator(".answer .rows .row").first.click()
    expect(compilation_page.locator("article.details h2")).to_have_text("t")


def test_keys_move_between_pins_steps_and_panels(compilation_page: Page) -> None:
    click_value(compilation_page, "t")
    compilation_page.keyboard.press("{")
    expect(compilation_page.locator(".chips")).to_contain_text("step 1")
    compilation_page.keyboard.press(".")
    expect(compilation_page.locator(".chips")).to_contain_text("step 2")
    compilation_page.keyboard.press("f")
    compilation_page.keyboard.press("Escape")
    expect(compilation_page.locator("article.details")).to_have_count(0)
    compilation_page.keyboard.press("?")
    expect(compilation_page.locator("dialog")).to_contain_text("centre the pinned value")


def test_a_comparison_adds_up_and_shows_the_values_behind_a_bar(
    open_page: OpenPage, write_report: WriteReport
) -> None:
    page = open_page(write_report("before", "after"))
    bars = shown(page, "view.growth.bars.map((bar) => [bar.title, bar.from, bar.to])")
    assert isinstance(bars, list)
    assert bars[0] == ["before", 0, 640]
    assert ["temp", 640, 832] in bars
    assert bars[-1] == ["after", 0, 832]
    page.locator("button.waterbar", has_text="temp").click()
    expect(page.locator(".behind .rows .row")).to_have_count(4)
    expect(page.locator(".behind .rows .row").first).to_contain_text("512 B")
    page.click("button[data-change=grown]")
    changed = page.get_by_role("grid", name="values that changed").locator(".rows .row")
    expect(changed).to_have_count(1)
    expect(changed).to_contain_text("jit(f)/layer_0/dot")
    expect(changed).to_contain_text("+192 B")


@pytest.mark.parametrize("by", ["role", "scope", "op", "line", "opcode"])
def test_every_bar_of_a_comparison_has_the_bytes_of_the_values_behind_it(
    open_page: OpenPage, write_report: WriteReport, by: str
) -> None:
    page = open_page(write_report("before", "after"), f"#by={by}")
    for bar_button in page.locator("button.waterbar").all():
        bar_button.click()
        bar = shown(
            page, "(({a, b}) => a + b)(view.growth.bars.find((bar) => bar.name === view.bar))"
        )
        cells = page.locator(".behind .rows .cell.bytes").all_inner_texts()
        assert sum(int(text.removesuffix(" B")) for text in cells) == bar


def test_light_and_dark_follow_the_system_and_the_key(
    open_page: OpenPage, write_report: WriteReport
) -> None:
    page = open_page(write_report("before"), f"#c={BEFORE_F}", color_scheme="dark")
    assert shown(page, "view.ink.theme") == "dark"
    page.keyboard.press("t")
    assert shown(page, "view.ink.theme") == "light"


def test_a_comparison_shows_both_steps_at_the_pointer_and_zooms_into_a_range(
    open_page: OpenPage, write_report: WriteReport
) -> None:
    page = open_page(write_report("before", "after"))
    frame = page.locator("canvas.timeline").bounding_box()
    assert frame is not None
    left, width = frame["x"] + 76, frame["width"] - 76  # of the plot, next to its axis
    page.mouse.move(left + 0.5 * width, frame["y"] + 80)
    expect(page.locator(".tip")).to_contain_text("before: 320 B at step 1")
    expect(page.locator(".tip")).to_contain_text("after: 576 B at step 1")
    page.mouse.down()
    page.mouse.move(left + 0.8 * width, frame["y"] + 80, steps=3)
    page.mouse.up()
    assert shown(page, "view.timelines.view.from") == pytest.approx(0.5, abs=0.01)
    assert shown(page, "view.timelines.view.to") == pytest.approx(0.8, abs=0.01)
    page.locator("canvas.timeline").press("0")
    assert shown(page, "view.timelines.view") == {"from": 0, "to": 1}
    page.locator("canvas.timeline").press("ArrowRight")
    expect(page.locator("#announcer")).to_contain_text("before: ")


def test_forced_colours_are_those_of_the_plots_and_lines_show_the_selection(
    open_page: OpenPage, write_report: WriteReport
) -> None:
    page = open_page(write_report("before"), f"#c={BEFORE_F}", forced_colors="active")
    assert shown(page, "[view.ink.plot, view.ink.text]") == page.evaluate(SYSTEM_COLOURS)
    temp = page.locator(".legend button", has_text="temp")
    temp.click()
    assert temp.evaluate("button => getComputedStyle(button).outlineStyle") == "solid"
    swatch = temp.locator(".swatch").evaluate("swatch => getComputedStyle(swatch).backgroundColor")
    assert swatch == "rgb(230, 159, 0)"


# Canvas and CanvasText, in hexadecimal
SYSTEM_COLOURS = """() => ['Canvas', 'CanvasText'].map((name) => {
  document.body.style.color = name;
  const channels = getComputedStyle(document.body).color.match(/\\d+/g).slice(0, 3);
  return '#' + channels.map((each) => Number(each).toString(16).padStart(2, '0')).join('');
})"""


def test_nothing_moves_by_itself_if_reduced_motion_is_requested(
    open_page: OpenPage, write_report: WriteReport
) -> None:
    page = open_page(write_report("before"), f"#c={BEFORE_F}", reduced_motion="reduce")
    click_value(page, "t")
    page.keyboard.press("0")
    assert page.evaluate("document.getAnimations().length") == 0
    moving = "[...document.querySelectorAll('*')].filter((each) => {"
    moving += " const style = getComputedStyle(each);"
    moving += " return style.transitionDuration !== '0s' || style.scrollBehavior === 'smooth'})"
    assert page.evaluate(f"{moving}.length") == 0


def test_on_a_page_that_scrolls_the_wheel_moves_the_map_after_a_click(
    open_page: OpenPage, write_report: WriteReport
) -> None:
    page = open_page(write_report("before"), f"#c={BEFORE_F}")
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("canvas.overlay").scroll_into_view_if_needed()
    page.mouse.move(*box_centre(page, "t"))
    page.mouse.wheel(0, 40)
    page.wait_for_function("() => scrollY > 0")
    assert shown(page, "view.state.view.from") == 0
    page.locator("canvas.overlay").focus()
    page.mouse.move(*box_centre(page, "t"))
    page.mouse.wheel(0, -300)
    page.wait_for_function("() => xlagraphView.state.view.from > 0")


def test_a_phone_shows_everything_in_one_column(
    open_page: OpenPage, write_report: WriteReport
) -> None:
    page = open_page(write_report("before"), f"#c={BEFORE_F}")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_script_the_page_still_shows_totals_advice_and_the_largest_values(
    browser: Browser, write_report: WriteReport
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    static = page.locator("#static")
    page.goto(write_report("before").as_uri())
    expect(static).to_be_visible()
    for text in ("384 B", "jit(f)/layer_0/dot", "No findings."):
        expect(static).to_contain_text(text)
    page.goto(write_report("padded").as_uri())
    expect(static).to_contain_text(
        "Padding fills the peak: up to 8.0 KiB, 99.8% (physical). Not certain: "
    )
    context.close()
