"""`xlagraph catalogue`: check your own queries, and take all queries to Neo4j Browser."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from xlagraph.cli.output.declared_options import flag, option
from xlagraph.cli.output.destination import STDOUT, OutputError, open_output_file
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import catalogue as read_catalogue
from xlagraph.cli.output.graph_and_queries import note_guess, open_graph_of
from xlagraph.cli.output.messages import note, problem
from xlagraph.cli.output.shared_options import GraphOptions, browser_url_option

if TYPE_CHECKING:
    from xlagraph.queries.catalogue.query_files import Query


@dataclass(frozen=True)
class MaintenanceOptions(GraphOptions):
    """Options of tasks about the catalogue, of which one is done."""

    check: Path | None = option("Check the queries below DIR without running them.", metavar="DIR")
    saved_scripts: Path | None = option(
        "Write all queries as saved scripts, to be dropped onto Neo4j Browser.", metavar="FILE.zip"
    )
    browser_style: bool = flag(
        "Print links that load captions, colours and sizes into Neo4j Browser."
    )
    browser_url: str | None = browser_url_option()
    queries: list[Path] | None = option(
        "Folders of your own queries; also XLAGRAPH_QUERIES.", metavar="DIR"
    )


def catalogue(options: MaintenanceOptions) -> None:
    """Check your own queries, or take all queries to Neo4j Browser.

    Example: xlagraph catalogue --check my-queries
    """
    if not is_task_done(options):
        raise UsageError("expected --check DIR, --saved-scripts FILE.zip or --browser-style")


def is_task_done(options: MaintenanceOptions, output: Path = STDOUT) -> bool:
    """Do the task that options name; return False if they name none."""
    if options.check is not None:
        _check(options.check)
    elif options.saved_scripts is not None:
        _write_scripts(read_catalogue(options.queries or ()).values(), options.saved_scripts)
    elif options.browser_style:
        with open_output_file(output) as stream:
            stream.writelines(f"{link}\n" for link in _style_links(options))
    else:
        return False
    return True


def _check(directory: Path) -> None:
    from xlagraph.queries.catalogue.query_check import check_queries

    problems = check_queries(directory)
    for text in problems:
        problem(text)
    if problems:
        raise typer.Exit(ExitCode.FAILED)
    note(f"no problem with the queries below {directory}")


def _style_links(options: MaintenanceOptions) -> list[str]:
    """Return the links that load the styles and stop Browser from adding relationships."""
    from xlagraph.graph import GraphMissing, GraphUnreachable
    from xlagraph.graph.neo4j.browser import browser_page
    from xlagraph.graph.neo4j.browser_style import setup_commands

    page = options.browser_url
    if page is None:
        try:
            with open_graph_of(options) as graph:
                page = graph.find_browser_page()
        except (GraphMissing, GraphUnreachable) as error:
            note(f"using the usual address of Neo4j Browser: {error}")
    browser = browser_page(options.graph, page=page)
    note_guess(browser)
    return [browser.link(command) for command in setup_commands()]


def _write_scripts(queries: "Iterable[Query]", path: Path) -> None:
    """Write the queries as saved scripts, a folder for each theme."""
    import zipfile

    from xlagraph.queries.catalogue.literals import saved_scripts

    scripts = saved_scripts(queries)
    try:
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in scripts.items():
                # without times, so that the same queries make the same file
                archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from error
    note(f"{len(scripts)} scripts in {path}: drop it onto the window of Neo4j Browser")
