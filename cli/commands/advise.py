"""`xlagraph advise`: find what to change, and what each change saves."""

from typing import TYPE_CHECKING, Annotated

import typer

from xlagraph.cli.output.destination import is_page, open_output, write_rows
from xlagraph.cli.output.exit_codes import ExitCode
from xlagraph.cli.output.graph_and_queries import complete_compilation, open_graph_of
from xlagraph.cli.output.messages import note, problem
from xlagraph.cli.output.shared_options import RowOptions

if TYPE_CHECKING:
    from xlagraph.advice.diagnosis import Diagnosis


def advise(
    options: RowOptions,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="COMPILATION|RUN",
            help="By default the compilation that reserves most.",
            autocompletion=complete_compilation,
        ),
    ] = None,
    memory_space: Annotated[int, typer.Option(min=0, help="Number of the memory space.")] = 0,
    limit: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Findings to show, small ones too; 0 shows all. (default: those from 5%)",
        ),
    ] = None,
) -> None:
    """Diagnose a compilation, or the largest of a run: what to change, most savings first.

    Findings are ranked by expected savings: the middle of the range, discounted if uncertain.

    Example: xlagraph advise baseline
    """
    from xlagraph.advice.advise import advise as diagnose
    from xlagraph.advice.findings import LEAST_SHARE
    from xlagraph.cli.output.graph_and_queries import catalogue

    with open_graph_of(options) as graph:
        diagnosis = diagnose(
            graph,
            name,
            memory_space=memory_space,
            catalogue=catalogue(),
            least_share=LEAST_SHARE if limit is None else 0,
        )
    _write(diagnosis, limit, options)
    for text in diagnosis.problems:
        problem(f"left out: {text}")
    if diagnosis.problems:
        raise typer.Exit(ExitCode.FAILED)


def _write(diagnosis: "Diagnosis", limit: int | None, options: RowOptions) -> None:
    from xlagraph.advice.diagnosis import diagnosis_result
    from xlagraph.cli.summaries.advice import write_diagnosis

    for text in diagnosis.notes:
        note(text)
    if is_page(options):
        with open_output(options) as stream:
            write_diagnosis(diagnosis, options.format, stream, limit=limit)
    else:
        result = diagnosis_result(diagnosis)
        write_rows(result.columns, result.rows[: limit or None], options)
