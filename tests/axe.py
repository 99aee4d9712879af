"""axe-core, which checks pages for people with disabilities; `make page` fetches it."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

_AXE = Path(__file__).parents[1] / ".ci/page/node_modules/axe-core/axe.min.js"
_FAULTS = """async () => (await axe.run({resultTypes: ['violations']})).violations.flatMap(
  ({id, nodes}) => nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`))"""

needs_axe = pytest.mark.skipif(not _AXE.exists(), reason="`make page` fetches axe-core")


def accessibility_faults(page: Page) -> object:
    """Return what axe-core finds in an open page."""
    page.evaluate(_AXE.read_text(encoding="utf-8"))
    return page.evaluate(_FAULTS)
