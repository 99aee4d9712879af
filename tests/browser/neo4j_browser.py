"""Neo4j Browser as a person uses it: open a link, log in, press the arrow, look."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tests.graph_fixtures import Neo4jServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE = 60_000
"""Milliseconds in which a loaded machine shows what is waited for."""


class Drawn(NamedTuple):
    """What Browser says that it draws."""

    nodes: int
    relationships: int


@dataclass(frozen=True)
class Neo4jBrowser:
    """A page of Chromium that shows Neo4j Browser."""

    page: "Page"
    server: Neo4jServer

    def open(self, link: str) -> None:
        """Open a link and log in; what the link puts into the editor is not run."""
        self.page.goto(link)
        self.page.fill(part("password"), self.server.password or "", timeout=PATIENCE)
        self.page.click(part("connect"))
        self.page.wait_for_selector(part("connect"), state="detached", timeout=PATIENCE)
        self.page.wait_for_selector("text=Getting started with Neo4j Browser", timeout=PATIENCE)

    def press_the_arrow(self) -> None:
        """Run what stands in the editor, and wait for its frame."""
        self.page.click(part("editor-Run"))
        self.page.wait_for_selector(
            f"{part('frame-loaded-contents')}, {part('frameStatusbar')}", timeout=PATIENCE
        )

    def rows(self) -> list[list[str]]:
        """Return the rows of the newest frame; without them fail with what it says."""
        self._show("cypherFrameSidebarTable")
        table = self.page.locator(f"{part('frame')} >> nth=0").locator("table tbody tr")
        table.first.wait_for(timeout=PATIENCE)
        return [
            [cell.strip().strip('"') for cell in row.locator("td").all_inner_texts()]
            for row in table.all()
        ]

    def drawn(self) -> Drawn:
        """Return how many nodes and relationships the newest frame draws."""
        said = self.page.locator("text=/Displaying \\d+ nodes/").first
        numbers = re.findall(r"\d+", said.inner_text(timeout=PATIENCE))
        return Drawn(int(numbers[0]), int(numbers[1]))

    def _show(self, view: str) -> None:
        frame = self.page.locator(f"{part('frame')} >> nth=0")
        frame.locator(part(view)).click(timeout=PATIENCE)


def part(name: str) -> str:
    """Return the selector of what Browser's own tests find by this name."""
    return f'[data-testid="{name}"]'
