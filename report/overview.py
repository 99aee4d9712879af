"""The compilations of a page with their totals, the largest first."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from xlagraph.graph import Cell, Graph
from xlagraph.queries import run
from xlagraph.report.packed_tables import Kind, Part, typed_table

TotalsRow = Mapping[str, Cell]
"""The row of a compilation in `overview/compilations`."""

_COLUMNS: Final = {
    "compilation": Kind.TEXT,
    "module": Kind.TEXT,
    "values": Kind.WIDE_NUMBER,
    "reservedBytes": Kind.WIDE_NUMBER,
    "physicalPeakBytes": Kind.WIDE_NUMBER,
    "logicalPeakBytes": Kind.WIDE_NUMBER,
    "allocationBytes": Kind.WIDE_NUMBER,
    "printedPeakBytes": Kind.WIDE_NUMBER,
    "carried": Kind.FLAG,
}


def read_totals(graph: Graph, compilations: Collection[str] | None) -> list[TotalsRow]:
    """Read the totals of some or all compilations, the largest reserved bytes first."""
    rows = run(graph, "overview/compilations").result.mappings()
    wanted = None if compilations is None else set(compilations)
    return [row for row in rows if wanted is None or row["compilation"] in wanted]


def overview_part(
    totals: Sequence[TotalsRow],
    *,
    title: str,
    location: str,
    carried: Collection[str] | None = None,
) -> Part:
    """Pack the totals of compilations of the graph at a location.

    ``carried`` are the compilations that can be opened; all if None.
    """
    rows = [{**row, "carried": carried is None or row["compilation"] in carried} for row in totals]
    return Part(
        facts={"kind": "overview", "title": title, "graph": location},
        tables={"compilations": typed_table(_COLUMNS, rows)},
    )
