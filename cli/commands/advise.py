"""`xlagraph advise`: find what to change, and what each change saves."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xlagraph.cli.output.declared_options import option
from xlagraph.cli.output.destination import is_page, open_output, write_rows
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.formats import AdviceFormat, Format
from xlagraph.cli.output.graph_and_queries import complete_compilation, open_graph_of
from xlagraph.cli.output.messages import note, problem
from xlagraph.cli.output.shared_options import LineOptions, OutputOptions, RowOptions

if TYPE_CHECKING:
    from xlagraph.advice.diagnosis import Diagnosis


@dataclass(frozen=True)
class AdviseOptions(OutputOptions, LineOptions):
    """Options of the command."""

    format: AdviceFormat = option(
        "Format of the findings; sarif is for code scanning.", default=AdviceFormat.TABLE
    )

    memory_space: int = option("Number of the memory space.", default=0, least=0)
    limit: int | None = option(
        "Findings to show, small ones too; 0 shows all. (default: those from 5%)", least=0
    )


def advise(
    options: AdviseOptions,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="COMPILATION|RUN",
            help="By default the compilation that reserves most.",
            autocompletion=complete_compilation,
        ),
    ] = None,
) -> None:
    """Show what to change, sorted by expected savings.

    By default a run's largest compilation is diagnosed. Expected savings are the middle of
    the range, discounted if uncertain.

    Example: xlagraph advise baseline
    """
    from xlagraph.advice.advise import advise as diagnose
    from xlagraph.advice.findings import LEAST_SHARE
    from xlagraph.cli.output.graph_and_queries import catalogue

    with open_graph_of(options) as graph:
        diagnosis = diagnose(
            graph,
            name,
            memory_space=options.memory_space,
            catalogue=catalogue(),
            least_share=LEAST_SHARE if options.limit is None else 0,
        )
    _write(diagnosis, options)
    for text in diagnosis.problems:
        problem(f"left out: {text}")
    if diagnosis.problems:
        raise typer.Exit(ExitCode.FAILED)


def _write(diagnosis: "Diagnosis", options: AdviseOptions) -> None:
    from xlagraph.advice.diagnosis import diagnosis_result
    from xlagraph.cli.summaries.advice import write_diagnosis

    for text in diagnosis.notes:
        note(text)
    if options.format is AdviceFormat.SARIF:
        _write_sarif(diagnosis, options)
        return
    rows = RowOptions(
        output=options.output,
        columns=options.columns,
        wide=options.wide,
        format=Format(options.format.value),
    )
    if is_page(rows):
        with open_output(rows) as stream:
            write_diagnosis(diagnosis, rows.format, stream, limit=options.limit)
    else:
        result = diagnosis_result(diagnosis)
        write_rows(result.columns, result.rows[: options.limit or None], rows)


def _write_sarif(diagnosis: "Diagnosis", options: AdviseOptions) -> None:
    """Write a log for code scanning, with files relative to the current folder."""
    from xlagraph.advice.sarif_log import sarif_log

    if options.columns is not None:
        raise UsageError("--columns selects columns of rows: omit it with --format sarif")
    shown = replace(diagnosis, findings=diagnosis.findings[: options.limit or None])
    with open_output(options) as stream:
        stream.write(json.dumps(sarif_log(shown, Path.cwd()), indent=2) + "\n")
