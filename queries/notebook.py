"""Answers, comparisons and diagnoses as notebooks show them: short pages of HTML."""

from collections.abc import Sequence

from xlagraph.graph.byte_sizes import counts_bytes, human_bytes, share_text
from xlagraph.graph.engine import Cell
from xlagraph.graph.html_table import MAX_ROWS, cell_text, html_table, html_text
from xlagraph.queries.advice.advise import Diagnosis
from xlagraph.queries.comparison.compare import Comparison
from xlagraph.queries.comparison.comparison_rows import group_rows, total_rows
from xlagraph.queries.comparison.groups import GROWTH_COLUMNS
from xlagraph.queries.runner.run import Answer

__all__ = ["answer_html", "comparison_html", "diagnosis_html"]

_ROWS = 10
"""Of each grouping of a comparison, and of the evidence of a finding."""


def answer_html(answer: Answer) -> str:
    """Return the title of a query, its rows, and the notes on them."""
    notes = "".join(f"<p><em>{html_text(note)}</em></p>" for note in answer.notes)
    table = _table(answer.result.columns, answer.result.rows)
    return f"<p><strong>{html_text(answer.query.title)}</strong></p>{notes}{table}"


def comparison_html(comparison: Comparison) -> str:
    """Return the totals of both sides, then the groups that changed most."""
    parts = [
        f"<p><strong>{html_text(comparison.a.name)} → {html_text(comparison.b.name)}</strong></p>",
        _table(("measure", *GROWTH_COLUMNS), total_rows(comparison)),
    ]
    for by in comparison.groups:
        rows = group_rows(comparison, by, _ROWS)
        parts += [f"<p>By {by}</p>", _table((*by.columns, *GROWTH_COLUMNS), rows)]
    return "".join(parts)


def diagnosis_html(diagnosis: Diagnosis) -> str:
    """Return the findings, most bytes first, each with its evidence and remedies to unfold."""
    columns = ("finding", "saves", "share", "compilation", "query")
    rows = [
        (
            finding.advice.title,
            finding.savings.text,
            finding.share,
            finding.compilation,
            finding.query.id,
        )
        for finding in diagnosis.findings
    ]
    parts = [f"<p><strong>{html_text(diagnosis.name)}</strong></p>"]
    parts += [
        f"<p><em>{html_text(note)}</em></p>" for note in (*diagnosis.notes, *diagnosis.problems)
    ]
    parts.append(_table(columns, rows) if rows else "<p>Nothing stands out.</p>")
    for finding in diagnosis.findings:
        evidence = [[row[name] for name in finding.evidence_columns] for row in finding.rows]
        remedies = "".join(
            f"<li>{html_text(framework)}: {html_text(remedy)}</li>"
            for framework, remedy in finding.advice.remedies.items()
        )
        doubt = finding.savings.doubt
        doubt_html = "" if doubt is None else f"<p><em>Not certain: {html_text(doubt)}.</em></p>"
        parts.append(
            f"<details><summary>{html_text(finding.advice.title)}</summary>{doubt_html}"
            f"{_table(finding.evidence_columns, evidence, _ROWS)}<ul>{remedies}</ul></details>"
        )
    return "".join(parts)


def _table(
    columns: Sequence[str], rows: Sequence[Sequence[Cell]], most_rows: int = MAX_ROWS
) -> str:
    """Return a table whose bytes have units, and whose shares are percentages."""
    return html_table(columns, rows[:most_rows], count=len(rows), text=_text)


def _text(column: str, cell: Cell) -> str:
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        if counts_bytes(column):
            return human_bytes(cell)
        if column.lower().endswith("share"):
            return share_text(cell)
    return cell_text(column, cell)
