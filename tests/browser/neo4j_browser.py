"""Neo4j Browser as a person uses it: open a link, log in, press the arrow, look."""

import base64
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.neo4j_server.server import Neo4jServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

_DROP = """([name, content]) => {
    const bytes = Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], name));
    for (const kind of ["dragenter", "dragover", "drop"]) {
        const event = new DragEvent(kind, {dataTransfer, bubbles: true, cancelable: true});
        document.querySelector(".filedrop").dispatchEvent(event);
    }
}"""


@dataclass(frozen=True)
class Neo4jBrowser:
    """A page of Chromium that shows Neo4j Browser."""

    page: "Page"
    server: Neo4jServer

    def open(self, link: str) -> None:
        """Open a link, and log in the first time; the statement in the editor is not run."""
        self.page.goto(link)
        welcome = ':text("Getting started with Neo4j Browser")'
        password = part("password")
        self.page.wait_for_selector(f"{password}, {welcome}")
        if self.page.is_visible(password):
            self.page.fill(part("username"), self.server.user or "")
            self.page.fill(password, self.server.password or "")
            self.page.click(part("connect"))
        self.page.wait_for_selector(welcome)
        if "cmd=edit" in link:  # the statement may come a moment after the page
            lines = self.page.locator(f"{part('activeEditor')} .view-lines")
            lines.get_by_text(re.compile(r"\S")).first.wait_for()

    def press_the_arrow(self) -> None:
        """Run the statement in the editor, and wait for its frame.

        Others, such as that of `:server connect`, go by themselves, so they are not counted.
        """
        frame = part("frame")
        self.page.eval_on_selector_all(frame, "found => found.forEach(f => f.dataset.seen = '1')")
        self.page.click(part("editor-Run"))
        self.page.wait_for_selector(f"{frame}:not([data-seen])", state="attached")

    def wait_until_kept(self, what: str, text: str) -> None:
        """Wait until Browser has stored a text, which happens a moment later."""
        self.page.wait_for_function(
            "([key, text]) => (localStorage.getItem(key) ?? '').includes(text)",
            arg=[f"neo4j.{what}", text],
        )

    def rows(self) -> list[list[str]]:
        """Return the rows of the newest frame; fail with its text if it has none."""
        self._show("cypherFrameSidebarTable")
        table = self.page.locator(f"{part('frame')} >> nth=0").locator("table tbody tr")
        table.first.wait_for()
        return [
            [cell.strip().strip('"') for cell in row.locator("td").all_inner_texts()]
            for row in table.all()
        ]

    def wait_until_drawn(self, *, nodes: int, relationships: int) -> None:
        """Wait until the newest frame draws this many elements; relationships appear last."""
        from playwright.sync_api import expect

        said = self.page.locator(f"{part('frame')} >> nth=0").get_by_text(
            re.compile(r"Displaying \d+ nodes")
        )
        drawn = re.compile(rf"Displaying {nodes} nodes, {relationships} relationships")
        expect(said.first).to_have_text(drawn)

    def fills(self) -> set[str]:
        """Return the colours in which the newest frame draws nodes."""
        circles = self.page.locator(f"{part('frame')} >> nth=0").locator("circle.b-outline")
        circles.first.wait_for()
        return {circle.get_attribute("fill") or "" for circle in circles.all()}

    def captions(self) -> str:
        """Return the captions of nodes and edges in the newest frame, without spaces."""
        frame = self.page.locator(f"{part('frame')} >> nth=0")
        texts = frame.locator("svg g.node text, svg g.relationship text").all_text_contents()
        return re.sub(r"\s", "", " ".join(texts))

    def paste(self, text: str) -> None:
        """Write into the editor in one piece, as when pasting."""
        self.page.click(f"{part('activeEditor')} .view-lines")
        self.page.keyboard.insert_text(text)

    def drop(self, file: Path) -> None:
        """Drop a file on the window."""
        content = base64.b64encode(file.read_bytes()).decode()
        self.page.evaluate(_DROP, [file.name, content])

    def script_folders(self) -> list[str]:
        """Return the folders of the user's saved scripts."""
        self.page.click(part("navigationFavorites"))
        names = self.page.locator("[data-testid^='expandFolder-']")
        names.first.wait_for()
        return [name.inner_text().strip() for name in names.all()]

    def _show(self, view: str) -> None:
        frame = self.page.locator(f"{part('frame')} >> nth=0")
        frame.locator(part(view)).click()


def part(name: str) -> str:
    """Return the selector for the name that Browser's own tests use."""
    return f'[data-testid="{name}"]'
