"""Read a comparison for the page: totals, groups, timelines, values and allocations."""

from collections.abc import Iterator, Sequence
from typing import Final

from xlagraph.comparison.compared_sides import TOTALS, ComparedCompilation, ComparedPair
from xlagraph.comparison.groups import without_environment
from xlagraph.graph import Cell, Graph, Scalar
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries import By, Comparison, GroupGrowth, compare, load_catalogue, run
from xlagraph.queries.runner.run import known_parameters
from xlagraph.report.packed_tables import ColumnKind, PagePart, Table, typed_table
from xlagraph.report.reproduction import reproduction_of_query

GROUPINGS: Final = (By.CAUSE, By.ROLE, By.OP, By.LINE, By.SCOPE, By.OPCODE, By.VALUE)

SCOPE_PARTS: Final = 3
"""Number of leading parts of an op name that make a scope."""
MOST_STEPS: Final = 400_000
"""Maximum number of steps on a page, summed over all timelines."""
MOST_ROWS: Final = 30_000
"""Maximum number of values, and of allocations, of each side on a page; the largest first."""

_PEAK_SHARES: Final = load_statement(__file__, "peak-shares")
_ALLOCATIONS: Final = load_statement(__file__, "allocations-of-sides")
_PEAK_COLUMNS: Final = {
    "side": ColumnKind.TEXT,
    "compilation": ColumnKind.TEXT,
    "value": ColumnKind.TEXT,
    "opName": ColumnKind.TEXT,
    "scope": ColumnKind.TEXT,
    "opcode": ColumnKind.TEXT,
    "userFile": ColumnKind.TEXT,
    "userLine": ColumnKind.NUMBER,
    "sourceFile": ColumnKind.TEXT,
    "sourceLine": ColumnKind.NUMBER,
    "shape": ColumnKind.TEXT,
    "bytes": ColumnKind.WIDE_NUMBER,
}
_ALLOCATION_COLUMNS: Final = {
    "side": ColumnKind.TEXT,
    "compilation": ColumnKind.TEXT,
    "number": ColumnKind.NUMBER,
    "role": ColumnKind.TEXT,
    "shape": ColumnKind.TEXT,
    "parameterNumber": ColumnKind.NUMBER,
    "bytes": ColumnKind.WIDE_NUMBER,
}
_STEP_COLUMNS: Final = {
    "step": ColumnKind.NUMBER,
    "physicalBytes": ColumnKind.WIDE_NUMBER,
    "logicalBytes": ColumnKind.WIDE_NUMBER,
}


def compare_sides(graph: Graph, a: str, b: str) -> Comparison:
    """Compare two runs or compilations by all groupings of the page."""
    return compare(graph, a, b, by=GROUPINGS, depth=SCOPE_PARTS)


def comparison_part(graph: Graph, comparison: Comparison) -> PagePart:
    """Read all data of a comparison page."""
    pairs = (*comparison.pairs, *comparison.unpaired)
    timelines = list(_timelines(graph, comparison.pairs))
    return PagePart(
        facts={
            "kind": "comparison",
            "graph": graph.location,
            "a": comparison.a.name,
            "b": comparison.b.name,
            "totals": {
                measure: [growth.bytes_a, growth.bytes_b]
                for measure in TOTALS
                for growth in [comparison.growth_of(measure)]
            },
            "sentences": [
                {
                    "text": sentence.text,
                    "growthBytes": sentence.growth_bytes,
                    "command": sentence.command,
                }
                for sentence in comparison.sentences
            ],
            "groups": {
                str(by): _groups(comparison, by, growths)
                for by, growths in comparison.groups.items()
            },
            "pairs": [_pair(pair) for pair in pairs],
            "timelines": sorted({number for number, _, _ in timelines}),
            "haveLiveRanges": any(map(_have_live_ranges, comparison.pairs)),
        },
        tables={
            **{f"{number}/{side}": table for number, side, table in timelines},
            "peak": _both_sides(graph, comparison, _PEAK_SHARES, _PEAK_COLUMNS),
            "allocations": _both_sides(graph, comparison, _ALLOCATIONS, _ALLOCATION_COLUMNS),
        },
    )


def _timelines(graph: Graph, pairs: Sequence[ComparedPair]) -> Iterator[tuple[int, str, Table]]:
    """Yield both timelines of the pairs that reserve most, with the number of the pair."""
    left = MOST_STEPS
    with_timelines = [number for number, pair in enumerate(pairs) if _have_live_ranges(pair)]
    for number in sorted(with_timelines, key=lambda number: -_reserved(pairs[number])):
        sides = [
            (side, run(graph, "peak/timeline", compilation=compilation.key).result.mappings())
            for side, compilation in (("a", pairs[number].a), ("b", pairs[number].b))
            if compilation is not None
        ]
        left -= sum(len(rows) for _, rows in sides)
        if left < 0:
            return
        for side, rows in sides:
            yield number, side, typed_table(_STEP_COLUMNS, rows)


def _have_live_ranges(pair: ComparedPair) -> bool:
    """Return True if both sides have a known peak, hence a timeline."""
    return all(
        compilation is not None and compilation.totals.physical_peak_bytes is not None
        for compilation in (pair.a, pair.b)
    )


def _reserved(pair: ComparedPair) -> int:
    return max(pair.reserved.bytes_a or 0, pair.reserved.bytes_b or 0)


def _both_sides(
    graph: Graph, comparison: Comparison, statement: str, columns: dict[str, ColumnKind]
) -> Table:
    rows: list[dict[str, Cell]] = []
    for side, selection in (("a", comparison.a), ("b", comparison.b)):
        if selection.compilations:  # one engine cannot unwind an empty list
            parameters: dict[str, Cell] = {
                "compilations": list(selection.compilations),
                "limit": MOST_ROWS,
                "depth": SCOPE_PARTS,
            }
            found = graph.query(statement, parameters).mappings()
            rows += [
                {name: without_environment(cell) for name, cell in row.items()} | {"side": side}
                for row in found
            ]
    return typed_table(columns, rows)


def _groups(comparison: Comparison, by: By, growths: Sequence[GroupGrowth]) -> dict[str, object]:
    """Return the rows of a grouping, with the query that returns them."""
    query = load_catalogue()[by.query_id]
    given: dict[str, Scalar] = {
        "runA": comparison.a.name,
        "runB": comparison.b.name,
        "depth": SCOPE_PARTS,
        "limit": MOST_ROWS,
    }
    return {
        "columns": [*by.columns, "bytesA", "bytesB"],
        "rows": [[*growth.group, growth.bytes_a, growth.bytes_b] for growth in growths],
        **reproduction_of_query(query, known_parameters(query, given)),
    }


def _pair(pair: ComparedPair) -> dict[str, object]:
    return {"module": pair.module, "a": _side(pair.a), "b": _side(pair.b)}


def _side(compilation: ComparedCompilation | None) -> dict[str, object] | None:
    if compilation is None:
        return None
    return {
        "key": compilation.key,
        "reservedBytes": compilation.totals.reserved_bytes,
        "physicalPeakBytes": compilation.totals.physical_peak_bytes,
        "logicalPeakBytes": compilation.totals.logical_peak_bytes,
    }
