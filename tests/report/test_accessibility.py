"""axe-core, which checks pages for people with disabilities, finds no fault in reports."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.axe import accessibility_faults, needs_axe
from tests.report.conftest import OpenPage
from tests.tiny_dumps import BEFORE_F

pytestmark = needs_axe


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_read_a_compilation(
    open_page: OpenPage, write_report: Callable[..., Path], scheme: str
) -> None:
    page = open_page(write_report("before"), f"#c={BEFORE_F}", color_scheme=scheme)
    assert accessibility_faults(page) == []
    for panel in ("2", "3", "4", "5"):
        page.keyboard.press(panel)
        assert accessibility_faults(page) == []


def test_everyone_can_read_lists_and_comparisons(
    open_page: OpenPage, write_report: Callable[..., Path]
) -> None:
    assert accessibility_faults(open_page(write_report())) == []
    assert accessibility_faults(open_page(write_report("before", "after"))) == []
