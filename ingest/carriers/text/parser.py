"""Parse a dump's text into a `PrintedPlan`, for any version of XLA.

The form of a line decides its meaning (`line_forms`). A line that matches no form allowed at
its place, or that contradicts another line, is a `ParseError`; no line is skipped::

    parse_plan ──► DumpText       the lines of each file
               ──► *_section      one module for each section
               ──► DraftPlan      filled by the sections, then made into a Plan
"""

from collections.abc import Callable, Sequence
from re import Match
from typing import Final, NamedTuple

from xlagraph.ingest.carriers.text import line_forms as form
from xlagraph.ingest.carriers.text.allocation_section import parse_allocations
from xlagraph.ingest.carriers.text.line_forms import LineForm
from xlagraph.ingest.carriers.text.live_ranges_section import parse_live_ranges
from xlagraph.ingest.carriers.text.printed_plan import DraftPlan, PrintedPlan, SectionName
from xlagraph.ingest.carriers.text.text import DumpPart, DumpText
from xlagraph.ingest.carriers.text.used_values_section import parse_totals
from xlagraph.ingest.errors import ParseError
from xlagraph.runtime.memory import collector_paused


@collector_paused()
def parse_plan(parts: Sequence[DumpPart]) -> PrintedPlan:
    """Parse the files of one dump, given in any order.

    A section that no file contains is None in the plan. Linear in the length of the text.

    Raises:
        ParseError: a line matches no form, two lines contradict each other, or the text is cut
            inside a section.
    """
    try:
        return _plan([DumpText(part) for part in parts])
    except ParseError:
        texts = [DumpText(part.joined()) for part in parts]
        removed = [text.remove_blanks() for text in texts]
        if not any(removed) and not any(part.rest for part in parts):
            raise
    return _plan(texts)


def _plan(texts: Sequence[DumpText]) -> PrintedPlan:
    draft = DraftPlan()
    sections: dict[DumpText, tuple[SectionName, ...]] = {}
    # The allocations are required to check the other files.
    for text in sorted(texts, key=lambda text: not _begins_with_allocations(text)):
        if not sections and not _begins_with_allocations(text):
            raise text.syntax_error(text.blanks_end(0), form.BUFFER_ASSIGNMENT)
        in_other_files = {name for names in sections.values() for name in names}
        sections[text] = _parse_sections(text, draft, in_other_files)
    return draft.finished(text.style(sections[text]) for text in texts)


def _begins_with_allocations(text: DumpText) -> bool:
    return form.BUFFER_ASSIGNMENT.regex.match(text.text, text.blanks_end(0)) is not None


def _parse_sections(
    text: DumpText, draft: DraftPlan, in_other_files: set[SectionName]
) -> tuple[SectionName, ...]:
    position = text.skip_blanks(0)
    names: list[SectionName] = []
    may_follow: tuple[LineForm, ...] = ()
    for section in _SECTIONS:
        headers = (header.regex.match(text.text, position) for header in section.headers)
        if found := next(filter(None, headers), None):
            if section.name in in_other_files:
                raise text.error(position, f"the {section.name} in only one file of the dump")
            position = text.skip_blanks(section.parse(text, found, draft))
            names.append(section.name)
            may_follow = section.inner
        else:
            may_follow += section.headers
    if not names or position < len(text.text) or text.rest:
        raise text.syntax_error(position, *may_follow)
    if text.is_cut:
        raise text.error(len(text.text) - 1, "the end of this line: the file is cut here")
    return tuple(names)


class _PlanSection(NamedTuple):
    """A section of a dump."""

    name: SectionName
    headers: tuple[LineForm, ...]
    """First line of the section: one of these forms."""
    parse: Callable[[DumpText, Match[str], DraftPlan], int]
    """Parser of the section after its header; returns the position after the section."""
    inner: tuple[LineForm, ...]
    """Forms of lines that are also allowed at the end of the section."""


_SECTIONS: Final = (
    _PlanSection(
        "allocations",
        (form.BUFFER_ASSIGNMENT,),
        parse_allocations,
        (form.ALLOCATION, form.VALUE),
    ),
    _PlanSection(
        "used values",
        (form.TOTAL,),
        parse_totals,
        (form.VALUE_HEADER,),
    ),
    _PlanSection(
        "live ranges",
        (form.LIVE_RANGES, form.LIVE_RANGES_NOT_AVAILABLE),
        parse_live_ranges,
        (form.PEAK_ENTRY, form.STACK_TRACE, form.STACK_LINE),
    ),
)
