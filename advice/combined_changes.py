"""Combine the changes of a ranking until a compilation fits."""

from collections.abc import Iterable
from dataclasses import dataclass

from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.diagnosis import Finding
from xlagraph.advice.planned_savings import replanned_savings
from xlagraph.planner.edits.edit import Edit
from xlagraph.planner.edits.resizing import PackTightly

__all__ = ["CombinedChange", "combine", "not_combined"]


@dataclass(frozen=True, slots=True)
class CombinedChange:
    """A finding, and the savings of its change together with the changes before it."""

    finding: Finding
    together_bytes: int | None
    """Bytes saved together, the least of a range. None if the change is not combined: it cannot be
    replanned, saves nothing in addition, or the changes before it are enough."""
    together_at_most: int | None
    """Most of the range; None if there is no range."""
    fits: bool
    """True if even the least saving makes the compilation fit."""


def combine(
    program: PeakProgram, findings: Iterable[Finding], missing_bytes: int
) -> tuple[CombinedChange, ...]:
    """Add changes in the order of the findings and replan them together until enough is saved."""
    edits: list[Edit] = []
    saved = 0
    combined: list[CombinedChange] = []
    for finding in findings:
        edit = finding.edit
        if edit is None or not _can_be_combined(finding) or saved >= missing_bytes:
            combined.append(CombinedChange(finding, None, None, fits=False))
            continue
        found = replanned_savings(program, [*edits, edit])
        if found.bytes <= saved and (found.at_most or 0) <= saved:
            combined.append(CombinedChange(finding, None, None, fits=False))
            continue
        edits.append(edit)
        saved = found.bytes
        combined.append(
            CombinedChange(finding, found.bytes, found.at_most, fits=saved >= missing_bytes)
        )
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
