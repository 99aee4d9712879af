"""A headless Chromium for tests of pages: Debian's, driven by Playwright.

Without Chromium these tests are skipped with a message; XLAGRAPH_REQUIRE_BROWSER=1 makes that a
failure, and =0 skips them without a search. All tests of a process share one `browser`; each test
has a `page` in a separate context, so nothing is stored between tests. While the browser runs,
`asyncio.run` fails in the thread of the tests, because Playwright's loop runs there.
"""

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_NAMES = ("chromium", "chromium-browser", "google-chrome")
# root cannot use the sandbox, and test machines have no graphics card
_ARGUMENTS = ["--no-sandbox", "--disable-gpu"]
PATIENCE = 120_000
"""Milliseconds until a loaded machine shows the expected element."""


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """Chromium, without a window."""
    required = os.environ.get("XLAGRAPH_REQUIRE_BROWSER")
    if required == "0":
        pytest.skip("XLAGRAPH_REQUIRE_BROWSER=0 asks for no browser")
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        reason = f"none of {', '.join(_NAMES)} is installed (Debian: apt-get install chromium)"
        if required == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=_ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    """An empty page of 1400 × 900 that shares nothing with other tests."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()
