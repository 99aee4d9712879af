"""Changes of a ranking, combined until a compilation fits."""

from collections.abc import Iterable
from dataclasses import dataclass

from xlagraph.queries.advice.diagnosis import Finding
from xlagraph.queries.advice.savings import Change, Planner
from xlagraph.queries.catalogue.declarations import ChangeKind

__all__ = ["CombinedChange", "combine", "not_combined"]


@dataclass(frozen=True, slots=True)
class CombinedChange:
    """A finding, and what its change saves together with those before it."""

    finding: Finding
    together_bytes: int | None
    """At least, where it is a range; None where it is not combined: it cannot be replanned, saves
    nothing beside the others, or the others are enough."""
    together_at_most: int | None
    fits: bool
    """Whether so much is saved at least that the compilation fits."""


def combine(
    planner: Planner, findings: Iterable[Finding], missing_bytes: int
) -> tuple[CombinedChange, ...]:
    """Add changes in the order of the findings, replanned together, until enough is saved."""
    changes: list[Change] = []
    saved = 0
    combined: list[CombinedChange] = []
    for finding in findings:
        change = finding.change
        if change is None or not _can_be_combined(finding) or saved >= missing_bytes:
            combined.append(CombinedChange(finding, None, None, fits=False))
            continue
        found = planner.savings([*changes, change])
        if found.bytes <= saved and (found.at_most or 0) <= saved:
            combined.append(CombinedChange(finding, None, None, fits=False))
            continue
        changes.append(change)
        saved = found.bytes
        combined.append(
            CombinedChange(finding, found.bytes, found.at_most, fits=saved >= missing_bytes)
        )
    return tuple(combined)


def not_combined(findings: Iterable[Finding]) -> tuple[CombinedChange, ...]:
    """Return findings each by itself."""
    return tuple(CombinedChange(finding, None, None, fits=False) for finding in findings)


def _can_be_combined(finding: Finding) -> bool:
    return (
        finding.savings.is_planned
        and finding.savings.expected_bytes > 0
        and finding.change is not None
        and finding.change.kind is not ChangeKind.PACK
    )
