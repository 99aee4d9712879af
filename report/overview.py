"""The compilations that a report is about, largest first."""

from collections.abc import Collection, Sequence
from typing import Final

from xlagraph.graph import Graph
from xlagraph.queries import run
from xlagraph.report.packed_tables import Kind, Part, table_of

_COLUMNS: Final = {
    "compilation": Kind.TEXT,
    "run": Kind.TEXT,
    "module": Kind.TEXT,
    "platform": Kind.TEXT,
    "values": Kind.BYTES,
    "reservedBytes": Kind.BYTES,
    "physicalPeakBytes": Kind.BYTES,
    "logicalPeakBytes": Kind.BYTES,
    "allocationBytes": Kind.BYTES,
    "printedPeakBytes": Kind.BYTES,
    "totalBytes": Kind.BYTES,
}


def overview_part(
    graph: Graph,
    compilations: Sequence[str] | None = None,
    *,
    title: str = "all runs",
    carried: Collection[str] | None = None,
) -> Part:
    """Read the totals of these compilations, or of all, the one that reserves most first.

    ``carried`` are those that can be opened; all of them if None.
    """
    rows = run(graph, "overview/compilations").result.mappings()
    if compilations is not None:
        wanted = set(compilations)
        rows = [row for row in rows if row["compilation"] in wanted]
    for row in rows:
        row["carried"] = carried is None or row["compilation"] in carried
    return Part(
        facts={"kind": "overview", "title": title, "graph": graph.location},
        tables={"compilations": table_of({**_COLUMNS, "carried": Kind.FLAG}, rows)},
    )
