"""A diagnosis and its rows, one for each finding."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from xlagraph.advice.places import Place, places
from xlagraph.advice.planned_savings import PotentialSavings
from xlagraph.graph.engine import Cell, Result, Tabular
from xlagraph.planner.edits.edit import Edit
from xlagraph.presentation.outlines import Outline, Outlined, OutlineTable
from xlagraph.presentation.readable_tables import html_text
from xlagraph.queries.catalogue.declarations import FRAMEWORKS, Advice, Column
from xlagraph.queries.catalogue.query_files import Query

COLUMNS: Final = (
    "compilation", "finding", "query", "measure", "bytes", "share", "rows", "evidence", *FRAMEWORKS,
    "bytesAtMost", "doubt", "expectedBytes", "places", "whatif",
)  # fmt: skip
_OUTLINE_COLUMNS: Final = ("finding", "saves", "share", "query", "compilation")
_MOST_EVIDENCE: Final = 10
"""Rows of the evidence of a finding that a notebook shows."""


@dataclass(frozen=True, slots=True)
class DiagnosedCompilation:
    """A diagnosed compilation in one memory space."""

    compilation: str
    reserved_bytes: int
    peak_bytes: int | None
    """Physical peak; None if the dump has no live ranges."""
    memory_space_name: str | None
    """HBM, VMEM, host, …; None if unknown."""

    def total_bytes(self, measure: str) -> int:
        """Return the total for shares of a measure: the reserved bytes, or the peak."""
        return self.reserved_bytes if measure == "reserved" else self.peak_bytes or 0


@dataclass(frozen=True, slots=True, repr=False)
class Finding(Outlined):
    """A possible change to a compilation, with its savings."""

    compilation: str
    query: Query
    """The query that shows the evidence."""
    advice: Advice
    savings: PotentialSavings
    share: float
    """Share of the reserved bytes or of the peak, depending on `savings.measure`; 0 to 1."""
    rows: tuple[Mapping[str, Cell], ...]
    """Rows with potential savings, sorted by savings, descending; all columns of the query."""
    edit: Edit | None = None
    """Edit to replan; None if the plan cannot predict its effect."""
    columns: tuple[Column, ...] = ()
    """The columns of the rows."""
    total_bytes: int = 0
    """Total that `share` refers to."""
    framework: str | None = None
    """Framework that compiled the program; None if unknown."""
    whatif: tuple[str, ...] = ()
    """Words of the command that replans this change; none if `whatif` has no such change."""

    @property
    def remedies(self) -> Mapping[str, str]:
        """Sentences that say what to change, in the words of the program's framework."""
        remedies = self.advice.remedies
        if self.framework is None or self.framework not in remedies:
            return remedies
        return {self.framework: remedies[self.framework]}

    @property
    def places(self) -> tuple[Place, ...]:
        """Source lines, or ops, that the bytes come from, sorted by bytes, descending."""
        return places(self.rows, self.advice.column)

    @property
    def sentence(self) -> str:
        """What was found, what it saves, and its first source line if one is known."""
        place = next((place for place in self.places if place.source is not None), None)
        where = "" if place is None else f" ({place.source})"
        return f"{self.advice.title}: {self.savings.text}{where}"

    @property
    def middle_share(self) -> float:
        """Share of the range's middle; 0 to 1."""
        return self.savings.middle / self.total_bytes if self.total_bytes else 0.0

    @property
    def most_bytes(self) -> int:
        """Most of the range of potential savings."""
        return self.savings.most_bytes

    @property
    def bytes(self) -> int:
        """Least of the range of potential savings. Findings overlap: the sum is too large."""
        return self.savings.bytes

    def outline(self) -> Outline:
        """Return the evidence, a doubt if there is one, and the change in each framework."""
        rows = [[row[name] for name in self.evidence_columns] for row in self.rows[:_MOST_EVIDENCE]]
        doubt = [] if self.savings.doubt is None else [f"Not certain: {self.savings.doubt}."]
        changes = (f"{name}: {change}" for name, change in self.remedies.items())
        return Outline(
            f"{self.advice.title}: {self.savings.text}",
            [OutlineTable(self.evidence_columns, rows)],
            (*doubt, *changes),
        )

    @property
    def evidence_columns(self) -> tuple[str, ...]:
        """Columns of the evidence: the potential savings, then those that the query declares."""
        declared = self.advice.evidence or tuple(column.name for column in self.query.columns)
        others = (name for name in declared if name != self.advice.column)
        return (self.advice.column, *others)


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis(Tabular):
    """Findings about a run or a compilation."""

    name: str
    """Name of the run, or key of the compilation."""
    is_run: bool
    memory_space: int
    compilations: tuple[DiagnosedCompilation, ...]
    """Diagnosed compilations, sorted by reserved bytes, descending."""
    findings: tuple[Finding, ...]
    """Findings sorted by expected savings, descending; none is a good answer."""
    notes: tuple[str, ...]
    """Notes on the chosen and skipped compilations, and on facts missing from the dumps."""
    problems: tuple[str, ...] = ()
    """Files of queries that failed, each with the reason. Their findings are missing."""
    hidden: int = 0
    """Number of findings that are not listed: each saves less than `least_share`, or may save
    nothing."""
    least_share: float = 0.0

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @property
    def nothing_found(self) -> str:
        """Sentence for a diagnosis without findings."""
        if not self.hidden:
            return "No findings."
        return f"No finding is likely to save {self.least_share:.0%} or more here."

    def __repr__(self) -> str:
        notes = (*self.notes, *self.problems)
        if not self.findings:
            return "\n".join((self.name, *notes, self.nothing_found))
        found = (
            f"{number}. {finding.sentence}" for number, finding in enumerate(self.findings, start=1)
        )
        return "\n".join((self.name, *found, *notes))

    def outline(self) -> Outline:
        """Return a row for each finding."""
        rows = [
            (
                finding.advice.title,
                finding.savings.text,
                finding.share,
                finding.query.id,
                finding.compilation,
            )
            for finding in self.findings
        ]
        notes = (*self.notes, *self.problems)
        if not rows:
            return Outline(self.name, notes=(*notes, self.nothing_found))
        return Outline(self.name, [OutlineTable(_OUTLINE_COLUMNS, rows)], notes)

    def _repr_html_(self) -> str:
        details = (
            f"<details><summary>{html_text(finding.advice.title)}</summary>"
            f"{finding._repr_html_()}</details>"
            for finding in self.findings
        )
        return "".join((super(Diagnosis, self)._repr_html_(), *details))

    def _result(self) -> Result:
        return diagnosis_result(self)


def diagnosis_result(diagnosis: Diagnosis) -> Result:
    """Return a row for each finding; its evidence is a list, sorted by bytes, descending."""
    return Result(COLUMNS, tuple(_finding_rows(diagnosis)))


def _finding_rows(diagnosis: Diagnosis) -> list[tuple[Cell, ...]]:
    """Return a row for each finding; its evidence is a list, sorted by bytes, descending."""
    return [
        (
            finding.compilation,
            finding.advice.title,
            finding.query.id,
            finding.savings.measure,
            finding.bytes,
            finding.share,
            len(finding.rows),
            [{name: row[name] for name in finding.evidence_columns} for row in finding.rows],
            *(finding.advice.remedies.get(framework) for framework in FRAMEWORKS),
            finding.savings.at_most,
            finding.savings.doubt,
            finding.savings.expected_bytes,
            [place.cells for place in finding.places],
            shlex.join(finding.whatif) or None,
        )
        for finding in diagnosis.findings
    ]
