"""A diagnosis, and its rows: one for each finding."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from xlagraph.graph.engine import Cell, Result
from xlagraph.presentation.html_tables import (
    html_notes,
    html_text,
    html_title,
    measured_table,
)
from xlagraph.queries.advice.places import Place, places
from xlagraph.queries.advice.planned_savings import PotentialSavings
from xlagraph.queries.advice.savings import Change
from xlagraph.queries.catalogue.declarations import FRAMEWORKS, Advice, Column
from xlagraph.queries.catalogue.query_files import Query

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]  # has no types of its own
    import polars

COLUMNS: Final = (
    "compilation", "finding", "query", "measure", "bytes", "share", "rows", "evidence", *FRAMEWORKS,
    "bytesAtMost", "doubt", "expectedBytes", "places",
)  # fmt: skip
_HTML_COLUMNS: Final = ("finding", "saves", "share", "compilation", "query")
_MOST_EVIDENCE: Final = 10
"""Rows of the evidence of a finding that a notebook shows."""


@dataclass(frozen=True, slots=True)
class DiagnosedCompilation:
    """A compilation that was looked at, in one memory space."""

    compilation: str
    reserved_bytes: int
    peak_bytes: int | None
    """Physical; None where the dump has no live ranges."""
    memory_space_name: str | None
    """HBM, VMEM, SMEM or host; None where that is unknown."""

    def total_bytes(self, measure: str) -> int:
        """Return the total that bytes of a measure are a share of: reserved bytes, or the peak."""
        return self.reserved_bytes if measure == "reserved" else self.peak_bytes or 0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that could be changed about a compilation."""

    compilation: str
    query: Query
    """The query that shows it."""
    advice: Advice
    savings: PotentialSavings
    share: float
    """Of what is reserved, or of the peak, as `savings.measure` says; 0 to 1."""
    rows: tuple[Mapping[str, Cell], ...]
    """The rows with potential savings, most first, with all columns of the query."""
    change: Change | None = None
    """What to replan together with other changes; None where the plan cannot tell."""
    columns: tuple[Column, ...] = ()
    """The columns of the rows."""
    total_bytes: int = 0
    """What it is a share of."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Where the bytes come from: rows by source line, else by op; most bytes first."""
        return places(self.rows, self.advice.column)

    @property
    def middle_share(self) -> float:
        """The share of the middle of a range; 0 to 1."""
        return self.savings.middle / self.total_bytes if self.total_bytes else 0.0

    @property
    def most_bytes(self) -> int:
        """Potential savings, the most of a range."""
        return max(self.bytes, self.savings.at_most or 0)

    @property
    def bytes(self) -> int:
        """Potential savings, the least of a range. Findings overlap: they do not add up."""
        return self.savings.bytes

    @property
    def evidence_columns(self) -> tuple[str, ...]:
        """The columns that show it: the potential savings, then what the query declares."""
        declared = self.advice.evidence or tuple(column.name for column in self.query.columns)
        others = (name for name in declared if name != self.advice.column)
        return (self.advice.column, *others)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Findings about a run or a compilation."""

    name: str
    """Of the run, or the key of the compilation."""
    is_run: bool
    memory_space: int
    compilations: tuple[DiagnosedCompilation, ...]
    """Those that were looked at, most reserved first."""
    findings: tuple[Finding, ...]
    """Most savings to expect first; none is a good answer."""
    notes: tuple[str, ...]
    """Which compilation was chosen, which were left out, what the dumps lack."""
    problems: tuple[str, ...] = ()
    """The files of queries that failed, each with the reason: their findings are missing."""
    hidden: int = 0
    """Findings that save less than `least_share`: counted, not listed."""
    least_share: float = 0.0

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def _repr_html_(self) -> str:
        rows = [
            (
                finding.advice.title,
                finding.savings.text,
                finding.share,
                finding.compilation,
                finding.query.id,
            )
            for finding in self.findings
        ]
        table = measured_table(_HTML_COLUMNS, rows) if rows else "<p>Nothing stands out.</p>"
        parts = [html_title(self.name), html_notes((*self.notes, *self.problems)), table]
        return "".join((*parts, *map(_details_html, self.findings)))

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the findings as a pandas frame; ImportError with the remedy without pandas."""
        return self._result().to_pandas()

    def to_polars(self) -> "polars.DataFrame":
        """Return the findings as a polars frame; ImportError with the remedy without polars."""
        return self._result().to_polars()

    def _result(self) -> Result:
        return diagnosis_result(self)


def diagnosis_result(diagnosis: Diagnosis) -> Result:
    """Return a row for each finding; its evidence is a list of mappings, most bytes first."""
    return Result(COLUMNS, tuple(_finding_rows(diagnosis)))


def _finding_rows(diagnosis: Diagnosis) -> list[tuple[Cell, ...]]:
    """Return a row for each finding; its evidence is a list of objects, most bytes first."""
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
            *(finding.advice.remedies[framework] for framework in FRAMEWORKS),
            finding.savings.at_most,
            finding.savings.doubt,
            finding.savings.expected_bytes,
            [place.cells for place in finding.places],
        )
        for finding in diagnosis.findings
    ]


def _details_html(finding: Finding) -> str:
    """Return the evidence and the remedies of a finding, to unfold."""
    evidence = [[row[name] for name in finding.evidence_columns] for row in finding.rows]
    remedies = "".join(
        f"<li>{html_text(framework)}: {html_text(remedy)}</li>"
        for framework, remedy in finding.advice.remedies.items()
    )
    doubt = finding.savings.doubt
    doubt_html = "" if doubt is None else f"<p><em>Not certain: {html_text(doubt)}.</em></p>"
    table = measured_table(finding.evidence_columns, evidence, _MOST_EVIDENCE)
    return (
        f"<details><summary>{html_text(finding.advice.title)}</summary>{doubt_html}"
        f"{table}<ul>{remedies}</ul></details>"
    )
