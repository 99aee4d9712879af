"""A page's compilations with their totals, the largest first."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from xlagraph.graph import Cell, Graph
from xlagraph.queries import run
from xlagraph.report.packed_tables import ColumnKind, PagePart, typed_table

TotalsRow = Mapping[str, Cell]
"""The row of a compilation in `overview/compilations`."""

_COLUMNS: Final = {
    "compilation": ColumnKind.TEXT,
    "module": ColumnKind.TEXT,
    "values": ColumnKind.WIDE_NUMBER,
    "reservedBytes": ColumnKind.WIDE_NUMBER,
    "physicalPeakBytes": ColumnKind.WIDE_NUMBER,
    "logicalPeakBytes": ColumnKind.WIDE_NUMBER,
    "allocationBytes": ColumnKind.WIDE_NUMBER,
    "printedPeakBytes": ColumnKind.WIDE_NUMBER,
    "carried": ColumnKind.FLAG,
}


def read_totals(graph: Graph, compilations: Collection[str] | None) -> list[TotalsRow]:
    """Read the totals of some or all compilations, sorted by reserved bytes, descending."""
    rows = run(graph, "overview/compilations").result.mappings()
    wanted = None if compilations is None else set(compilations)
    return [row for row in rows if wanted is None or row["compilation"] in wanted]


def overview_part(
    totals: Sequence[TotalsRow],
    *,
    title: str,
    location: str,
    carried: Collection[str] | None = None,
) -> PagePart:
    """Pack the totals of compilations of the graph at a location.

    ``carried`` are the compilations that can be opened; all if None.
    """
    rows = [{**row, "carried": carried is None or row["compilation"] in carried} for row in totals]
    return PagePart(
        facts={"kind": "overview", "title": title, "graph": location},
        tables={"compilations": typed_table(_COLUMNS, rows)},
    )
