"""Leave out values for which the change that a query proposes has no effect, or cannot be made."""

from collections.abc import Mapping, Sequence

from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.repeated_parts import is_repeated_part
from xlagraph.advice.causes.returned_values import (
    is_gradient_only,
    is_held_by_result,
    without_new_value,
)
from xlagraph.graph.engine import Cell
from xlagraph.queries.catalogue.declarations import ChangeKind

__all__ = ["changeable_rows"]

Rows = Sequence[Mapping[str, Cell]]


def changeable_rows(program: PeakProgram, change: ChangeKind | None, rows: Rows) -> Rows:
    """Return the rows of values that a change could concern."""
    match change:
        case ChangeKind.RECOMPUTE:
            return [row for row in rows if _is_recomputable(program, str(row["value"]))]
        case ChangeKind.HALF:  # a result keeps its type
            return [row for row in rows if not is_held_by_result(program, str(row["value"]))]
        case ChangeKind.DONATE:
            needed = without_new_value(program)
            return [
                row
                for row in rows
                if row["value"] not in needed and not is_gradient_only(program, str(row["value"]))
            ]
        case _:
            return rows


def _is_recomputable(program: PeakProgram, label: str) -> bool:
    """Return True if a checkpoint would remove a value."""
    return program.is_recomputable(label) and not is_repeated_part(program, label)
