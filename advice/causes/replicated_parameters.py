"""Find parameters that are replicated on every device while others of their kind are sharded."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import cast

from xlagraph.advice.causes.cause import Cause, evidence_row
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.remedies import REPLICATED
from xlagraph.graph.engine import Cell
from xlagraph.planner.edits.resizing import Scale
from xlagraph.queries.catalogue.declarations import ChangeKind

__all__ = ["replicated_parameters"]


def replicated_parameters(
    program: PeakProgram, rows: Sequence[Mapping[str, Cell]]
) -> Iterator[Cause]:
    """Yield a cause for the replicated parameters in the rows of waste/gathered."""
    found = []
    factors: dict[str, Fraction] = {}
    for row in rows:
        value = program.by_label.get(str(row["value"]))
        devices = cast("int | None", row["devices"]) or 1
        if value is None or row["sharding"] != "{replicated}" or devices < 2:
            continue
        found.append(evidence_row(value, f"replicated on each of {devices} devices"))
        factors[value.label] = Fraction(1, devices)
    if found:
        yield Cause(
            "waste/gathered",
            "Parameters are replicated on every device, but could be sharded",
            ChangeKind.SHARD,
            Scale(factors),
            tuple(sorted(found, key=lambda row: -int(str(row["sizeBytes"])))),
            REPLICATED,
        )
