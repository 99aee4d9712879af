"""Take the pictures of the report page that the documentation shows.

python docs/take_pictures.py       needs a Chromium; writes docs/pictures/report-*.png
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final
from urllib.parse import quote

from playwright.sync_api import sync_playwright

from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.report import make_report

TREE: Final = Path(__file__).resolve().parents[1]
PICTURES: Final = {
    "report-compilation.png": ["baseline/module_0004"],
    "report-comparison.png": ["baseline/module_0004", "batch2x/module_0004"],
}
"""File name of each picture, and the compilations that its report shows."""
FRAGMENT: Final = "#by=scope&pin=" + quote("broadcast_multiply_fusion.1")


def main() -> None:
    """Write all pictures; exit with a message if there is no Chromium."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no Chromium found (Debian: apt-get install chromium)")
    with (
        tempfile.TemporaryDirectory() as folder,
        open_graph(Path(folder) / "g.lbug", create=True) as graph,
        sync_playwright() as playwright,
    ):
        ingest(graph, TREE / "examples" / "runs")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        for name, compilations in PICTURES.items():
            html = Path(folder) / f"{name}.html"
            html.write_text(make_report(graph, compilations).html, encoding="utf-8")
            page.goto(html.as_uri() + (FRAGMENT if len(compilations) == 1 else ""))
            page.wait_for_timeout(1000)
            page.screenshot(path=TREE / "docs" / "pictures" / name)
        browser.close()


if __name__ == "__main__":
    main()
