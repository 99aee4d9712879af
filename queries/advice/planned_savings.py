"""What a finding saves: planned anew where the plan can tell, else the sum of its rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, cast

from xlagraph.graph.engine import Cell
from xlagraph.queries.catalogue.declarations import Advice, ChangeKind
from xlagraph.queries.planning.savings import Planner, Savings

__all__ = ["PotentialSavings", "potential_savings"]

_SUM_OF_SIZES: Final = "a sum of sizes: the plan cannot tell what the change does to it"
_CPU_UNDOES: Final = "on CPU the compiler undoes most checkpoints"
_CPU_WIDENS: Final = "on CPU the compiler computes in wider types and keeps the casts"
_OTHER_PROGRAM: Final = "the compiler may schedule and fuse the changed program another way"


@dataclass(frozen=True, slots=True)
class PotentialSavings:
    """What the change that a finding asks for saves."""

    bytes: int
    """At least, where it is a range."""
    at_most: int | None
    """None where it is not a range."""
    measure: str
    """What they are a share of: `reserved` where they were planned, else as the advice says."""
    doubt: str | None
    """Why the effect cannot be told; None where it can."""


def potential_savings(
    rows: Sequence[Mapping[str, Cell]], advice: Advice, planner: Planner
) -> PotentialSavings:
    """Return what changing the values of these rows saves."""
    total = sum(cast("int", row[advice.column]) for row in rows)
    if not rows or advice.change is None:
        return PotentialSavings(total, None, advice.measure, _SUM_OF_SIZES)
    if (obstacle := planner.obstacle) is not None:
        return PotentialSavings(total, None, advice.measure, obstacle)
    found = _planned(advice.change, rows, planner)
    return PotentialSavings(
        found.bytes, found.at_most, "reserved", _doubt(advice.change, is_cpu=planner.is_cpu)
    )


def _planned(change: ChangeKind, rows: Sequence[Mapping[str, Cell]], planner: Planner) -> Savings:
    labels = [str(row["value"]) for row in rows]
    if change is ChangeKind.DONATE:
        return planner.donated(labels)
    if change is ChangeKind.WITHOUT:
        return planner.without(labels)
    if change is ChangeKind.RECOMPUTE:
        return planner.made_again(labels)
    if change is ChangeKind.HALF:
        return planner.shrunk([(label, Fraction(1, 2)) for label in labels])
    return planner.shrunk(
        [
            (label, Fraction(cast("int", row["denseBytes"]), cast("int", row["sizeBytes"])))
            for label, row in zip(labels, rows, strict=True)
        ]
    )


def _doubt(change: ChangeKind, *, is_cpu: bool) -> str | None:
    if change is ChangeKind.DONATE:
        return None
    if is_cpu and change is ChangeKind.RECOMPUTE:
        return _CPU_UNDOES
    if is_cpu and change is ChangeKind.HALF:
        return _CPU_WIDENS
    return _OTHER_PROGRAM if change is ChangeKind.WITHOUT else None
