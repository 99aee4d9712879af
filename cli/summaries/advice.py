"""Write a diagnosis as sentences and tables."""

import shlex
from typing import TYPE_CHECKING, Final, TextIO

from xlagraph.cli.output.cells import escape_control_characters
from xlagraph.cli.output.formats import WRITERS, Format, escape_markdown
from xlagraph.cli.output.messages import write_prose
from xlagraph.presentation.byte_sizes import human_bytes, share_text
from xlagraph.queries.catalogue.declarations import FRAMEWORKS

if TYPE_CHECKING:
    from xlagraph.queries.advice.diagnosis import Diagnosis, Finding

_LABEL_WIDTH: Final = 13
SHOWN: Final = 5
"""Rows of evidence that a page shows of each finding."""
WHOLES: Final = {"reserved": "what is reserved", "physical": "the physical peak"}
"""What the bytes of a finding are a share of, by the measure of its advice."""


def write_diagnosis(diagnosis: "Diagnosis", format_: Format, stream: TextIO) -> None:
    """Write a page: what was looked at, then each finding with its evidence and remedies."""
    for diagnosed in diagnosis.compilations:
        peak = "unknown" if diagnosed.peak_bytes is None else human_bytes(diagnosed.peak_bytes)
        name = _plain(diagnosed.compilation, format_)
        text = f"{name}: {human_bytes(diagnosed.reserved_bytes)} reserved, peak {peak}"
        if diagnosed.memory_space_name is not None:
            text += f", in memory space {diagnosis.memory_space} ({diagnosed.memory_space_name})"
        _write_text(f"- {text}" if format_ is Format.MD else text, format_, stream)
    if not diagnosis.findings:
        _write_text(_nothing(diagnosis), format_, stream, space=bool(diagnosis.compilations))
        return
    for number, finding in enumerate(diagnosis.findings, start=1):
        _write_finding(number, finding, diagnosis, format_, stream)
    _write_text(
        f"{_basis(diagnosis)}: findings overlap, their bytes do not add up.",
        format_,
        stream,
        space=True,
    )


def _basis(diagnosis: "Diagnosis") -> str:
    """Return what the figures of the findings are."""
    are_planned = [finding.savings.is_planned for finding in diagnosis.findings]
    if all(are_planned):
        return "Planned anew as XLA does, each change alone"
    if any(are_planned):
        return "Planned anew as XLA does where the plan can tell, each change alone"
    return "Sums of sizes, not planned anew"


def _nothing(diagnosis: "Diagnosis") -> str:
    if not diagnosis.compilations:
        return "Nothing stands out: nothing is allocated there."
    if any(diagnosed.peak_bytes is None for diagnosed in diagnosis.compilations):
        return "Nothing stands out, as far as is known: without live ranges no peak is known."
    return "Nothing stands out."


def _write_finding(
    number: int, finding: "Finding", diagnosis: "Diagnosis", format_: Format, stream: TextIO
) -> None:
    is_md = format_ is Format.MD
    whole = WHOLES[finding.savings.measure]
    saved = finding.savings.text
    verb = "" if saved.startswith("up to") else "saves "
    title = f"{number}. {finding.advice.title}: {verb}{saved}"
    title += f", {share_text(finding.share)} of {whole}"
    _write_text(f"### {title}" if is_md else title, format_, stream, space=True)
    if len(diagnosis.compilations) > 1:
        _write_text(f"in {_plain(finding.compilation, format_)}", format_, stream, space=is_md)
    if finding.savings.doubt is not None:
        _write_text(f"Not certain: {finding.savings.doubt}.", format_, stream, space=is_md)
    stream.write("\n")
    rows = [[row[name] for name in finding.evidence_columns] for row in finding.rows[:SHOWN]]
    WRITERS[format_](finding.evidence_columns, rows, stream)
    if len(finding.rows) > SHOWN:
        _write_text(f"… and {len(finding.rows) - SHOWN} more", format_, stream, space=is_md)
    stream.write("\n")
    for framework, name in FRAMEWORKS.items():
        remedy = finding.advice.remedies[framework]
        text = f"- **{name}**: {remedy}" if is_md else f"{name + ':':<{_LABEL_WIDTH}}{remedy}"
        _write_text(text, format_, stream, indent=_LABEL_WIDTH)
    words = ["xlagraph", "query", finding.query.id, "--compilation", finding.compilation]
    takes_space = any(parameter.name == "memorySpace" for parameter in finding.query.parameters)
    if takes_space and diagnosis.memory_space:
        words += ["--memory-space", str(diagnosis.memory_space)]
    command = escape_control_characters(shlex.join(words))  # not wrapped: it is copied
    label = f"{'Shown by:':<{_LABEL_WIDTH}}"
    stream.write(f"- **Shown by**: `{command}`\n" if is_md else f"{label}{command}\n")


def _plain(name: str, format_: Format) -> str:
    return escape_markdown(name) if format_ is Format.MD else name


def _write_text(
    text: str, format_: Format, stream: TextIO, *, space: bool = False, indent: int = 0
) -> None:
    stream.write("\n" * space)
    if format_ is Format.MD:
        stream.write(f"{escape_control_characters(text)}\n")
    else:
        write_prose(text, stream, indent=indent)
