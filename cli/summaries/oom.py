"""Write an out-of-memory failure: the memory that ran out, the largest lines, what to change."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from xlagraph.advice.error_message import (
    Explanation,
    Failure,
    Stage,
    Unknown,
    explain,
    largest_lines,
)
from xlagraph.cli.output.cells import escape_control_characters
from xlagraph.cli.output.destination import is_page, open_output, write_rows
from xlagraph.cli.output.formats import Format, escape_markdown
from xlagraph.cli.output.messages import write_prose
from xlagraph.cli.output.shared_options import RowOptions
from xlagraph.cli.summaries.capacity import change_cells, changes_section
from xlagraph.cli.summaries.sections import Section, write_lines, write_sections
from xlagraph.graph.record_cells import record_cells, record_row
from xlagraph.presentation.byte_sizes import counted

if TYPE_CHECKING:
    from xlagraph.graph import Cell
    from xlagraph.queries import FailedProgram

COLUMNS: Final = (
    "stage", "code", "memorySpace", "requestedBytes", "capacityBytes", "freeBytes", "inUseBytes",
    "missingBytes", "paddingBytes", "module", "userFile", "userLine", "verdict", "parts", "largest",
    "allocations", "advice", "unknown", "otherFailures", "compilation", "reservedBytes", "fits",
    "peakLines", "changes",
)  # fmt: skip
LARGEST_COLUMNS: Final = ("line", "opName", "sizeBytes", "paddingBytes", "allocations", "shape")
_SHOWN: Final = 10
"""Number of lines of the largest allocations on a page."""


def write_failure_report(
    failure: Failure,
    others: Sequence[Failure],
    program: "FailedProgram | None",
    options: RowOptions,
    dumps: Path | None = None,
) -> None:
    """Write a failure as a page for people, or as one row.

    ``dumps`` is the folder that was searched for the program; None for the user's graph.
    """
    explanation = explain(failure)
    if not is_page(options):
        write_rows(COLUMNS, [_row(failure, others, explanation, program)], options)
        return
    with open_output(options) as stream:
        lines = [explanation.verdict, *explanation.facts]
        if others:
            where = ", ".join(str(other.line_number) for other in others[:_SHOWN])
            lines_of = "line" if len(others) == 1 else "lines"
            lines.append(
                f"{counted(len(others), 'more failure')} in this log, not explained here:"
                f" {lines_of} {where}{', …' if len(others) > _SHOWN else ''}."
            )
        write_lines(lines, options.format, stream)
        write_sections(_sections(failure, program, dumps), options.format, stream)
        changes = [f"{number}. {text}" for number, text in enumerate(explanation.changes, start=1)]
        title = "What to change first" if program is None else "What to change, from the message"
        _write_list(title, changes, options.format, stream)
        unknown = [f"- {each.text}: {each.remedy}" for each in _unknown(explanation, program)]
        _write_list(
            "What the message does not tell, and how to see it", unknown, options.format, stream
        )


def _write_list(title: str, lines: Sequence[str], format_: Format, stream: TextIO) -> None:
    if not lines:
        return
    stream.write("\n")
    if format_ is Format.MD:
        stream.write(f"### {title}\n\n")
        for line in lines:
            stream.write(f"{escape_markdown(escape_control_characters(line))}\n")
        return
    for line in (title, *lines):
        write_prose(line, stream, indent=3 if line is not title else 0)


def _unknown(explanation: Explanation, program: "FailedProgram | None") -> list[Unknown]:
    """Return the facts that neither the message nor the program contains."""
    return [each for each in explanation.unknown if program is None or not each.is_in_dumps]


def _sections(
    failure: Failure, program: "FailedProgram | None", dumps: Path | None
) -> list[Section]:
    sections = []
    shares = largest_lines(failure)
    if shares:
        columns = LARGEST_COLUMNS if any(share.line for share in shares) else LARGEST_COLUMNS[1:]
        rows = [
            (share.line, share.op_name or share.label, share.size_bytes, share.padding_bytes,
             share.allocations, share.shape)[-len(columns):]
            for share in shares[:_SHOWN]
        ]  # fmt: skip
        count = len(failure.largest)
        title = f"The largest by line and op ({counted(count, 'allocation')} in the message)"
        sections.append(Section(title, columns, rows))
    if program is not None:
        sections += _program_sections(program, dumps, failure)
    return sections


def _program_sections(
    program: "FailedProgram", dumps: Path | None, failure: Failure
) -> list[Section]:
    fit = program.fit
    title = f"In its plan: {program.compilation} ({program.reason})"
    if program.mismatch is not None:
        title += f"; {program.mismatch}: log and dumps are of different programs"
    elif failure.stage is Stage.PLAN and fit is not None and fit.fits:
        title += "; it fits: the message may be about another program"
    if fit is None:
        return [Section(title, ("note",), [("it allocates nothing in this memory space",)])]
    columns = (
        "memorySpace",
        "memorySpaceName",
        "reservedBytes",
        "capacityBytes",
        "fits",
        "missingBytes",
    )
    sections = [Section(title, columns, [record_row(fit, columns)])]
    if program.lines is not None and program.lines.rows:
        lines = program.lines
        sections.append(Section("The largest at its peak, by line", lines.columns, lines.rows))
    from xlagraph.advice.combined_changes import not_combined

    before = "" if dumps is None else f"{shlex.join(['xlagraph', 'ingest', str(dumps)])}, then "
    return [*sections, changes_section(fit, not_combined(program.findings), before)]


def _row(
    failure: Failure,
    others: Sequence[Failure],
    explanation: Explanation,
    program: "FailedProgram | None",
) -> "tuple[Cell, ...]":
    from xlagraph.advice.combined_changes import not_combined

    frame = failure.traceback_line
    fit = program.fit if program else None
    unknown: list[Cell] = [
        {"unknown": each.text, "remedy": each.remedy} for each in _unknown(explanation, program)
    ]
    return (
        *(failure.stage.value, failure.code, failure.memory_space, failure.requested_bytes),
        *(failure.capacity_bytes, failure.room_bytes, failure.in_use_bytes, failure.missing_bytes),
        *(failure.padding_bytes, failure.module),
        *((frame.file, frame.line) if frame else (None, None)),
        explanation.verdict,
        *([*map(record_cells, failure.parts)], [*map(record_cells, largest_lines(failure))]),
        *([*map(record_cells, failure.largest)], list(explanation.changes), unknown, len(others)),
        program.compilation if program else None,
        *((fit.reserved_bytes, fit.fits) if fit else (None, None)),
        list(program.lines.mappings()) if program and program.lines else [],
        change_cells(not_combined(program.findings)) if program else [],
    )
