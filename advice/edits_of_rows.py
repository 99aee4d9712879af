"""Choose the edit of the values in a query's rows."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import assert_never, cast

from xlagraph.advice import edited_values
from xlagraph.graph.engine import Cell
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.edits.donating import Donate
from xlagraph.planner.edits.edit import Edit
from xlagraph.planner.edits.recomputing import Defer, Move, Recompute
from xlagraph.planner.edits.resizing import ComputeInParts, PackTightly, Remove, Scale
from xlagraph.queries.catalogue.declarations import Advice, ChangeKind


def edit_of_rows(
    rows: Sequence[Mapping[str, Cell]], advice: Advice, compilation: PlannableCompilation
) -> Edit | None:
    """Return the edit of the values in the rows; None if its effect cannot be replanned."""
    if not rows or advice.change is None:
        return None
    kind = advice.change
    if kind is ChangeKind.PACK:
        return PackTightly()
    labels_of_rows = [(row, label) for row in rows for label in _labels(row[advice.changed])]
    labels = tuple(label for _, label in labels_of_rows)
    match kind:
        case ChangeKind.HALF:
            return Scale(
                dict.fromkeys(edited_values.in_whole_sets(compilation, labels), Fraction(1, 2))
            )
        case ChangeKind.DENSE:
            return Scale({label: _dense_part(row) for row, label in labels_of_rows})
        case ChangeKind.SHARD:  # all rows have the devices of the module
            part = Fraction(1, cast("int | None", rows[0]["devices"]) or 1)
            return Scale(dict.fromkeys(edited_values.with_same_elements(compilation, labels), part))
        case ChangeKind.PARTS:
            return ComputeInParts({})
        case ChangeKind.WITHOUT:
            return Remove.of(compilation, labels)
        case ChangeKind.DONATE:
            return Donate.of(compilation, labels)
        case ChangeKind.RECOMPUTE:
            return Recompute(edited_values.with_equal_ops(compilation, labels))
        case ChangeKind.LATE:
            return Defer(labels)
        case ChangeKind.MOVE:
            return Move(labels)
        case ChangeKind.SCHEDULE:
            return None
        case _:
            assert_never(kind)


def _labels(cell: Cell) -> list[str]:
    """Return the labels in a cell, which names one value or several."""
    return [cell] if isinstance(cell, str) else [str(label) for label in cast("list[Cell]", cell)]


def _dense_part(row: Mapping[str, Cell]) -> Fraction:
    """Return the part of its bytes that the value in a row keeps without padding."""
    return Fraction(cast("int", row["denseBytes"]), cast("int", row["sizeBytes"]))
