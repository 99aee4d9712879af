"""`xlagraph report`: an HTML page in one file."""

from pathlib import Path
from typing import Annotated

import typer

from xlagraph.cli.output.destination import STDOUT, open_output_file
from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.graph_and_queries import complete_compilation, open_graph_of
from xlagraph.cli.output.messages import note, report_bar
from xlagraph.cli.output.shared_options import LineOptions
from xlagraph.presentation.byte_sizes import human_bytes


def report(
    options: LineOptions,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE.html", help="The file to write; - is stdout."),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN|COMPILATION",
            help="One to show, or two to compare; all runs by default.",
            autocompletion=complete_compilation,
        ),
    ] = None,
) -> None:
    """Write an HTML page that shows memory plans, or compares two.

    Example: xlagraph report baseline -o baseline.html
    """
    from xlagraph.cli.output.graph_and_queries import catalogue
    from xlagraph.report import make_report

    if names and len(names) > 2:
        raise UsageError(f"a report compares two runs or compilations, not {len(names)}")
    with open_graph_of(options) as graph, report_bar() as progress:
        made = make_report(graph, names or (), catalogue=catalogue(), progress=progress)
    for text in made.notes:
        note(text)
    with open_output_file(output) as stream:
        stream.write(made.html)
    if output != STDOUT:
        note(f"wrote {output} ({human_bytes(len(made.html.encode()))})")
