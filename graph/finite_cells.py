"""Cells as JSON can write them: it has no word for NaN and infinity."""

import math
from collections.abc import Mapping

from xlagraph.graph.engine import Cell

__all__ = ["without_nan"]


def without_nan(cell: Cell) -> Cell:
    """Return a cell with null for each NaN and infinity, also inside lists and mappings."""
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if cell is None or isinstance(cell, str | int):
        return cell
    if isinstance(cell, Mapping):
        return {name: without_nan(value) for name, value in cell.items()}
    return [without_nan(element) for element in cell]
