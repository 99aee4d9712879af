"""Select the rows of a query's answer that save bytes in a memory space."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import cast

from xlagraph.graph.engine import Cell
from xlagraph.queries.catalogue.declarations import Advice

Row = Mapping[str, Cell]


def rows_with_savings(rows: Iterable[Row], advice: Advice, memory_space: int) -> list[Row]:
    """Return the rows with potential savings in a memory space, sorted by bytes, descending.

    Rows of other memory spaces and repeated values are dropped. If the query declares `@once`, rows
    without a free place in their group are dropped, too. A row without a memory space belongs to
    the one that its query was run for.
    """
    here = [row for row in rows if row.get("memorySpace", memory_space) == memory_space]
    found = _rows_with_free_places(here, *advice.once) if advice.once else here
    saving = [row for row in each_value_once(found) if _bytes(row, advice) > 0]
    return sorted(saving, key=lambda row: -_bytes(row, advice))


def _bytes(row: Row, advice: Advice) -> int:
    cell = row[advice.column]
    return cell if isinstance(cell, int) else 0


def each_value_once(rows: Iterable[Row]) -> list[Row]:
    """Return the first row of each value."""
    seen: set[Cell] = set()
    kept: list[Row] = []
    for row in rows:
        value = row.get("value")
        if value is None or value not in seen:
            kept.append(row)
        seen.add(value)
    return kept


def _rows_with_free_places(rows: Iterable[Row], group: str, places: str) -> list[Row]:
    # The places that suit a row also suit all rows of its group with more choices, so serving
    # rows with the fewest choices first places as many rows as possible.
    taken: Counter[Cell] = Counter()
    kept: list[Row] = []
    for row in sorted(rows, key=lambda row: cast("int", row[places])):
        if cast("int", row[places]) > taken[row[group]]:
            taken[row[group]] += 1
            kept.append(row)
    return kept
