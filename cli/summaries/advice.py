"""Write a diagnosis as sentences and tables."""

import shlex
from typing import TYPE_CHECKING, Final, TextIO

from xlagraph.cli.output.cells import escape_control_characters
from xlagraph.cli.output.formats import WRITERS, Format, escape_markdown
from xlagraph.cli.output.messages import write_prose
from xlagraph.presentation.byte_sizes import counted, human_bytes, known_bytes, share_text
from xlagraph.queries.catalogue.declarations import FRAMEWORKS

if TYPE_CHECKING:
    from xlagraph.advice.diagnosis import Diagnosis, Finding

_LABEL_WIDTH: Final = 13
SHOWN: Final = 5
"""Number of places that a page shows for each finding."""
_PLACE_COLUMNS: Final = ("bytes", "values", "line", "op", "shape", "example")
WHOLES: Final = {"reserved": "reserved memory", "physical": "the physical peak"}
"""Total that the share of a finding refers to, by the measure of its advice."""


def write_diagnosis(
    diagnosis: "Diagnosis", format_: Format, stream: TextIO, *, limit: int | None = None
) -> None:
    """Write a page: the diagnosed compilations, then each finding with evidence and fixes."""
    for diagnosed in diagnosis.compilations:
        peak = known_bytes(diagnosed.peak_bytes)
        name = _plain(diagnosed.compilation, format_)
        text = f"{name}: {human_bytes(diagnosed.reserved_bytes)} reserved, peak {peak}"
        if diagnosed.memory_space_name is not None:
            text += f", in memory space {diagnosis.memory_space} ({diagnosed.memory_space_name})"
        _write_text(f"- {text}" if format_ is Format.MD else text, format_, stream)
    if not diagnosis.findings:
        _write_text(_nothing(diagnosis), format_, stream, space=bool(diagnosis.compilations))
        _write_hidden(diagnosis, format_, stream)
        return
    shown = diagnosis.findings[: limit or None]
    for number, finding in enumerate(shown, start=1):
        _write_finding(number, finding, diagnosis, format_, stream)
    _write_text(
        f"{_basis(diagnosis)}: findings overlap, so do not add their bytes.",
        format_,
        stream,
        space=True,
    )
    _write_hidden(diagnosis, format_, stream, not_shown=len(diagnosis.findings) - len(shown))


def _write_hidden(
    diagnosis: "Diagnosis", format_: Format, stream: TextIO, *, not_shown: int = 0
) -> None:
    """Write how many findings are not shown, and how to see them."""
    hidden = not_shown + diagnosis.hidden
    if hidden:
        reasons = ["beyond the limit"] if not_shown else []
        if diagnosis.hidden:
            reasons.append(f"not likely to save {diagnosis.least_share:.0%} here")
        why = ", or ".join(reasons)
        noun = "more finding" if diagnosis.findings else "finding"
        _write_text(
            f"{counted(hidden, noun)} not shown ({why}): --limit 0 shows all.",
            format_,
            stream,
        )


def _basis(diagnosis: "Diagnosis") -> str:
    """Return how the figures of the findings were computed."""
    are_planned = [finding.savings.is_planned for finding in diagnosis.findings]
    if all(are_planned):
        return "Each change is replanned separately"
    if any(are_planned):
        return "Each change is replanned separately if possible, else a sum of sizes"
    return "Sums of sizes, not replanned"


def _nothing(diagnosis: "Diagnosis") -> str:
    if not diagnosis.compilations:
        return "No findings: nothing is allocated in this memory space."
    if any(diagnosed.peak_bytes is None for diagnosed in diagnosis.compilations):
        return "No findings; without live ranges the peak is unknown."
    return diagnosis.nothing_found


def _write_finding(
    number: int, finding: "Finding", diagnosis: "Diagnosis", format_: Format, stream: TextIO
) -> None:
    is_md = format_ is Format.MD
    whole = WHOLES[finding.savings.measure]
    saved = finding.savings.text
    verb = "saves " if finding.savings.doubt is None and not saved.startswith("up to") else ""
    title = f"{number}. {finding.advice.title}: {verb}{saved}"
    if finding.savings.likelihood:
        title += f", {share_text(finding.middle_share)} of {whole}"
    _write_text(f"### {title}" if is_md else title, format_, stream, space=True)
    if len(diagnosis.compilations) > 1:
        _write_text(f"in {_plain(finding.compilation, format_)}", format_, stream, space=is_md)
    if finding.savings.doubt is not None:
        _write_text(f"Not certain: {finding.savings.doubt}.", format_, stream, space=is_md)
    stream.write("\n")
    _write_places(finding, format_, stream)
    stream.write("\n")
    place = next((place for place in finding.places if place.source is not None), None)
    if place is not None:
        label = "- **Where**: " if is_md else f"{'Where:':<{_LABEL_WIDTH}}"
        file = place.file if place.line is None else f"{place.file}:{place.line}"
        stream.write(escape_control_characters(f"{label}{file}") + "\n")
    for framework, remedy in finding.remedies.items():
        name = FRAMEWORKS[framework]
        text = f"- **{name}**: {remedy}" if is_md else f"{name + ':':<{_LABEL_WIDTH}}{remedy}"
        _write_text(text, format_, stream, indent=_LABEL_WIDTH)
    words = ["xlagraph", "query", finding.query.id, finding.compilation]
    takes_space = any(parameter.name == "memorySpace" for parameter in finding.query.parameters)
    if takes_space and diagnosis.memory_space:
        words += ["--memory-space", str(diagnosis.memory_space)]
    for label, command in (("Shown by", words), ("Proved by", finding.whatif)):
        # not wrapped, so that it can be copied
        if text := escape_control_characters(shlex.join(command)):
            stream.write(
                f"- **{label}**: `{text}`\n" if is_md else f"{f'{label}:':<{_LABEL_WIDTH}}{text}\n"
            )


def _write_places(finding: "Finding", format_: Format, stream: TextIO) -> None:
    """Write the source lines of the bytes, and the reasons if they are known."""
    places = finding.places
    shown = places[:SHOWN]
    texts = [
        (place.source or "", place.op or "", place.shape or "", place.example or "")
        for place in shown
    ]
    if not any(map(any, texts)):
        return  # a block without a value to name
    rows = [(place.bytes, place.values, *text) for place, text in zip(shown, texts, strict=True)]
    WRITERS[format_](_PLACE_COLUMNS, rows, stream)
    if len(places) > SHOWN:
        values = counted(sum(place.values for place in places[SHOWN:]), "value")
        left = human_bytes(sum(place.bytes for place in places[SHOWN:]))
        _write_text(
            f"… and {counted(len(places) - SHOWN, 'more place')} ({values}, {left})",
            format_,
            stream,
            space=format_ is Format.MD,
        )
    for reason in dict.fromkeys(place.reason for place in shown if place.reason):
        _write_text(f"Why: {reason}.", format_, stream, space=format_ is Format.MD)


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
