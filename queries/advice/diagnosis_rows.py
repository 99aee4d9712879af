"""A diagnosis as rows: one for each finding."""

from typing import Final

from xlagraph.graph.engine import Cell, Result
from xlagraph.queries.advice.advise import Diagnosis
from xlagraph.queries.catalogue.declarations import FRAMEWORKS

COLUMNS: Final = (
    "compilation", "finding", "query", "measure", "bytes", "share", "rows", "evidence", *FRAMEWORKS,
    "bytesAtMost", "doubt",
)  # fmt: skip


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
        )
        for finding in diagnosis.findings
    ]
