"""Links, statements and scripts for Neo4j Browser work in Neo4j Browser."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.browser.links import ODD_RUN, PICTURES, Command
from tests.browser.neo4j_browser import Neo4jBrowser
from xlagraph.graph.styles import NODE_STYLES
from xlagraph.queries import load_catalogue

ODD = f"{ODD_RUN}/step"


def test_a_link_draws_the_rows_of_the_query_after_the_style_is_loaded(
    neo4j_browser: Neo4jBrowser, command: Command
) -> None:
    style, config = command("query", "--browser-style").splitlines()
    for link, what, text in (
        (style, "grass", "node.Value"),
        (config, "settings", '"autoComplete":false'),
    ):
        neo4j_browser.open(link)
        neo4j_browser.press_the_arrow()
        neo4j_browser.wait_until_kept(what, text)
    asked = ("query", "graph/peak", "-c", ODD, "--limit", 3)
    neo4j_browser.open(command(*asked, "--browser"))
    neo4j_browser.press_the_arrow()
    edges = json.loads(command(*asked, "--format", "json"))
    # pair, make and q are values in memory; pair and make have a source line each
    neo4j_browser.wait_until_drawn(nodes=6, relationships=len(edges))
    colors = {NODE_STYLES[label].color for label in ("MemorySpace", "Value", "SourceLine")}
    assert {fill.lower() for fill in neo4j_browser.fills()} == {color.lower() for color in colors}

    # long names do not hide the bytes
    assert "256B" in neo4j_browser.captions()
    assert "HBM612Bmemoryspace0" in neo4j_browser.captions()


def test_pasted_statements_draw_pictures_and_return_rows(
    neo4j_browser: Neo4jBrowser, command: Command
) -> None:
    """Statements of links are pasted too: to load the page for each takes three seconds."""
    neo4j_browser.open(f"{neo4j_browser.server.browser_url}?dbms={neo4j_browser.server.uri}")
    for case in PICTURES[::2]:
        asked: list[object] = ["query", case.query]
        for name, given in case.asks[0].parameters.items():
            asked += ["--" + re.sub("([A-Z])", r"-\1", name).lower(), given]
        link = command(*asked, "--browser")
        neo4j_browser.paste(parse_qs(urlsplit(link).query)["arg"][0])
        neo4j_browser.press_the_arrow()
        picture = command(*asked, "--format", "graphml")
        nodes, relationships = picture.count("<node "), picture.count("<edge ")
        assert relationships > 0, case.query
        neo4j_browser.wait_until_drawn(nodes=nodes, relationships=relationships)
    # last, because Browser shows later results as tables too
    neo4j_browser.paste(command("query", "overview/roles", "-c", ODD, "--show"))
    neo4j_browser.press_the_arrow()
    assert "parameter" in [row[2] for row in neo4j_browser.rows()]


def test_one_drop_imports_all_saved_scripts(
    neo4j_browser: Neo4jBrowser, command: Command, tmp_path: Path
) -> None:
    archive = tmp_path / "scripts.zip"
    command("query", "--saved-scripts", archive)
    neo4j_browser.open(f"{neo4j_browser.server.browser_url}?dbms={neo4j_browser.server.uri}")
    neo4j_browser.drop(archive)
    themes = {query.theme for query in load_catalogue().values()}
    assert set(neo4j_browser.script_folders()) >= themes
    neo4j_browser.page.click("text=overview")
    neo4j_browser.page.wait_for_selector("text=overview/roles: Allocations of a compilation")
