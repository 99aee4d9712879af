"""What a finding saves: planned anew where the plan can tell, else the sum of its rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, assert_never, cast

from xlagraph.graph.engine import Cell
from xlagraph.presentation.byte_sizes import human_bytes
from xlagraph.queries.advice.savings import Planner, Savings
from xlagraph.queries.catalogue.declarations import Advice, ChangeKind

__all__ = ["PotentialSavings", "potential_savings"]

_SUM_OF_SIZES: Final = "a sum of sizes: the plan cannot tell what the change does to it"
_CPU_UNDOES: Final = "on CPU the compiler undoes most checkpoints outside of loops"
_MAY_GATHER: Final = "what is computed with it is split too, or the compiler gathers it again"
_NO_PACKING: Final = "no packing saves more; whether a change gets there, the plan cannot tell"
_CPU_WIDENS: Final = "on CPU the compiler computes in wider types and keeps the casts"
_OTHER_PROGRAM: Final = "the compiler may schedule and fuse the changed program another way"
_DOUBTS: Final = {
    ChangeKind.WITHOUT: _OTHER_PROGRAM,
    ChangeKind.SHARD: _MAY_GATHER,
    ChangeKind.PACK: _NO_PACKING,
}
"""By change, on any platform."""


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
    is_planned: bool
    """Whether the memory was planned anew; else they are a sum of sizes."""

    @property
    def text(self) -> str:
        """As people read it: `1.0 MiB`, `0 B to 4.0 MiB`; `up to 1.0 MiB` if in doubt."""
        least = human_bytes(self.bytes)
        most = least if self.at_most is None else human_bytes(self.at_most)
        if least != most:
            return f"{least} to {most}"
        return least if self.doubt is None else f"up to {least}"


def potential_savings(
    rows: Sequence[Mapping[str, Cell]], advice: Advice, planner: Planner
) -> PotentialSavings:
    """Return what changing the values of these rows saves."""
    total = sum(cast("int", row[advice.column]) for row in rows)
    if not rows or advice.change is None:
        return _sum_of_sizes(total, advice, _SUM_OF_SIZES)
    if (obstacle := planner.obstacle) is not None:
        return _sum_of_sizes(total, advice, obstacle)
    found = _planned(advice.change, advice.changed, rows, planner)
    return PotentialSavings(
        found.bytes,
        found.at_most,
        "reserved",
        _doubt(advice.change, found, is_cpu=planner.is_cpu),
        is_planned=True,
    )


def _sum_of_sizes(total: int, advice: Advice, doubt: str) -> PotentialSavings:
    return PotentialSavings(total, None, advice.measure, doubt, is_planned=False)


def _planned(
    change: ChangeKind, changed: str, rows: Sequence[Mapping[str, Cell]], planner: Planner
) -> Savings:
    if change is ChangeKind.PACK:
        return planner.savings_of_packing()
    labels_of_rows = [(row, label) for row in rows for label in _labels(row[changed])]
    labels = [label for _, label in labels_of_rows]
    match change:
        case ChangeKind.DONATE:
            return planner.savings_of_donating(labels)
        case ChangeKind.WITHOUT:
            return planner.savings_of_removing(labels)
        case ChangeKind.RECOMPUTE:
            return planner.savings_of_recomputing(labels)
        case ChangeKind.LATE:
            return planner.savings_of_deferring(labels)
        case ChangeKind.HALF | ChangeKind.DENSE | ChangeKind.SHARD:
            return planner.savings_of_shrinking(
                [(label, _factor(change, row)) for row, label in labels_of_rows]
            )
        case _:
            assert_never(change)


def _labels(cell: Cell) -> list[str]:
    """Return the labels that a cell names: of one value, or of several."""
    return [cell] if isinstance(cell, str) else [str(label) for label in cast("list[Cell]", cell)]


def _factor(change: ChangeKind, row: Mapping[str, Cell]) -> Fraction:
    """Return the part of its bytes that the value of a row keeps."""
    if change is ChangeKind.HALF:
        return Fraction(1, 2)
    if change is ChangeKind.SHARD:
        return Fraction(1, cast("int | None", row["devices"]) or 1)
    return Fraction(cast("int", row["denseBytes"]), cast("int", row["sizeBytes"]))


def _doubt(change: ChangeKind, found: Savings, *, is_cpu: bool) -> str | None:
    if not found.is_certain:
        return _CPU_UNDOES if is_cpu else _OTHER_PROGRAM
    if is_cpu and change is ChangeKind.HALF:
        return _CPU_WIDENS
    return _DOUBTS.get(change)
