"""What axe-core, which checks pages for people with disabilities, finds in those of reports."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.report.conftest import OpenPage
from tests.report.test_report_page import JIT_F

AXE = Path(__file__).parents[2] / ".ci/page/node_modules/axe-core/axe.min.js"
FAULTS = """async () => (await axe.run({resultTypes: ['violations']})).violations.flatMap(
  ({id, nodes}) => nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`))"""

WITH_AXE = pytest.mark.skipif(not AXE.exists(), reason="`make page` fetches axe-core")
pytestmark = WITH_AXE


def faults(page: Page) -> object:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    return page.evaluate(FAULTS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_compilation_can_be_read_by_all(
    open_page: OpenPage, write_report: Callable[..., Path], scheme: str
) -> None:
    page = open_page(write_report("before"), f"#c={JIT_F}", color_scheme=scheme)
    assert faults(page) == []
    for panel in ("2", "3", "4", "5"):
        page.keyboard.press(panel)
        assert faults(page) == []


def test_lists_and_comparisons_can_be_read_by_all(
    open_page: OpenPage, write_report: Callable[..., Path]
) -> None:
    assert faults(open_page(write_report())) == []
    assert faults(open_page(write_report("before", "after"))) == []
