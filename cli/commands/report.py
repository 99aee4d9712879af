"""`xlagraph report`: an HTML page in one file."""

from pathlib import Path
from typing import Annotated

import typer

from xlagraph.cli.output.destination import open_atomically
from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.graph_and_queries import complete_compilation, open_graph_of
from xlagraph.cli.output.messages import note
from xlagraph.cli.output.shared_options import LineOptions
from xlagraph.presentation.byte_sizes import human_bytes


def report(
    options: LineOptions,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.html", help="The file to write.")
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN|COMPILATION...]",
            help="One to show, or two to compare; all runs by default.",
            autocompletion=complete_compilation,
        ),
    ] = None,
) -> None:
    """Write a page that shows memory plans, or compares two; it opens from disk.

    Example: xlagraph report baseline -o baseline.html
    """
    from xlagraph.cli.output.graph_and_queries import catalogue
    from xlagraph.report import make_report

    if names and len(names) > 2:
        raise UsageError(f"a report compares two runs or compilations, not {len(names)}")
    with open_graph_of(options) as graph:
        made = make_report(graph, names or (), catalogue=catalogue())
    for text in made.notes:
        note(text)
    with open_atomically(output) as stream:
        stream.write(made.html)
    note(f"wrote {output} ({human_bytes(len(made.html.encode()))})")
