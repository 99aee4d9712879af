"""One-time setup of Neo4j Browser: styles, and the canned queries as saved scripts."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from xlagraph.cli.commands.statement_or_link import note_guess
from xlagraph.cli.output.destination import OutputError
from xlagraph.cli.output.graph_and_queries import open_graph_of
from xlagraph.cli.output.messages import note
from xlagraph.cli.output.shared_options import GraphOptions

if TYPE_CHECKING:
    from xlagraph.queries.catalogue.query_files import Query

__all__ = ["style_links", "write_scripts"]


def style_links(options: GraphOptions, page: str | None) -> list[str]:
    """Return the links that load the styles and stop Browser from adding relationships."""
    from xlagraph.graph import GraphMissing, GraphUnreachable
    from xlagraph.graph.neo4j.browser import browser_page
    from xlagraph.queries.grass import setup_commands

    if page is None:
        try:
            with open_graph_of(options) as graph:
                page = graph.find_browser_page()
        except (GraphMissing, GraphUnreachable) as error:
            note(f"using the usual address of Neo4j Browser: {error}")
    browser = browser_page(options.graph, page=page)
    note_guess(browser)
    return [browser.link(command) for command in setup_commands()]


def write_scripts(queries: "Iterable[Query]", path: Path) -> None:
    """Write the queries as saved scripts, a folder for each theme."""
    import zipfile

    from xlagraph.queries.catalogue.saved_scripts import saved_scripts

    scripts = saved_scripts(queries)
    try:
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in scripts.items():
                # without times, so that the same queries make the same file
                archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from error
    note(f"{len(scripts)} scripts in {path}: drop it onto the window of Neo4j Browser")
