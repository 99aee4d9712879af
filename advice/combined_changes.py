"""Combine the changes of a ranking until a compilation fits."""

from collections.abc import Iterable
from dataclasses import dataclass

from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.diagnosis import Finding
from xlagraph.advice.planned_savings import replanned_savings, sure_edit
from xlagraph.planner.edits.edit import Edit
from xlagraph.planner.edits.resizing import PackTightly


@dataclass(frozen=True, slots=True)
class CombinedChange:
    """A finding, and the savings of its change together with the changes before it."""

    finding: Finding
    together_bytes: int | None
    """Bytes saved together, the least of a range: what the changes without a doubt save, and what
    each promises alone. None if the change is not combined: it cannot be replanned, saves nothing
    in addition, or the changes before it are enough."""
    together_at_most: int | None
    """Most of the range; None if there is no range."""
    fits: bool
    """True if the changes without a doubt are enough to make the compilation fit."""


def combine(
    program: PeakProgram, findings: Iterable[Finding], missing_bytes: int
) -> tuple[CombinedChange, ...]:
    """Add changes in the order of the findings and replan them together until enough is saved."""
    edits: list[Edit] = []
    sure: list[Edit] = []
    least = most = 0
    combined: list[CombinedChange] = []
    for finding in findings:
        edit, savings = finding.edit, finding.savings
        if edit is None or not _can_be_combined(finding) or least >= missing_bytes:
            combined.append(CombinedChange(finding, None, None, fits=False))
            continue
        added = [*sure, sure_edit(program, edit)] if savings.doubt is None else sure
        surely = replanned_savings(program, added).bytes if added else 0
        together = replanned_savings(program, [*edits, edit])
        found_least = max(surely, least, savings.least_bytes)
        found_most = max(together.bytes, together.at_most or 0)
        if found_most < most or (found_least, found_most) == (least, most):
            combined.append(CombinedChange(finding, None, None, fits=False))
            continue
        edits.append(edit)
        sure = added
        least, most = found_least, max(found_least, found_most)
        at_most = most if most > least else None
        combined.append(CombinedChange(finding, least, at_most, fits=surely >= missing_bytes))
    return tuple(combined)


def not_combined(findings: Iterable[Finding]) -> tuple[CombinedChange, ...]:
    """Return the findings without combining their changes."""
    return tuple(CombinedChange(finding, None, None, fits=False) for finding in findings)


def _can_be_combined(finding: Finding) -> bool:
    return (
        finding.savings.is_planned
        and finding.savings.expected_bytes > 0
        and not isinstance(finding.edit, PackTightly)
    )
