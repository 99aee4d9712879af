"""A comparison as rows: one table of all its parts, one grouping, or one row of all."""

from typing import Final

from xlagraph.graph.engine import Cell, Result
from xlagraph.queries.comparison.compare import TOTALS, ComparedPair, Comparison
from xlagraph.queries.comparison.groups import GROWTH_COLUMNS, By, largest_groups

Rows = list[tuple[Cell, ...]]

PART_COLUMNS: Final = ("part", "name", "compilationA", "compilationB", *GROWTH_COLUMNS)
ONE_ROW_COLUMNS: Final = (
    "a", "b", "reservedBytesA", "reservedBytesB", "growthBytes", "growthShare",
    "physicalPeakBytesA", "physicalPeakBytesB", "peakGrowthBytes",
    "unpairedA", "unpairedB", "grownLine", "grownLineBytes", "grownOp", "grownOpBytes",
)  # fmt: skip


def comparison_result(comparison: Comparison, limit: int | None = None) -> Result:
    """Return all parts as one table; of each grouping the largest `limit`, all if that is None."""
    return Result(PART_COLUMNS, tuple(part_rows(comparison, limit)))


def part_rows(comparison: Comparison, limit: int | None) -> Rows:
    """Return the totals, then each compilation's reserved bytes, then each grouping."""
    compilations = [
        (part, *row)
        for part, pairs in (("compilation", comparison.pairs), ("unpaired", comparison.unpaired))
        for row in pair_rows(pairs)
    ]
    groups = [
        (by.value, _group_name(row[: len(by.columns)]), None, None, *row[len(by.columns) :])
        for by in comparison.groups
        for row in group_rows(comparison, by, limit)
    ]
    totals = [("total", name, None, None, *rest) for name, *rest in total_rows(comparison)]
    return [*totals, *compilations, *groups]


def total_rows(comparison: Comparison) -> Rows:
    """Return each measure, summed over all compilations of a side; null where it is unknown."""
    growths = [comparison.growth_of(measure) for measure in TOTALS]
    return [
        (measure, growth.bytes_a, growth.bytes_b, growth.growth_bytes if growth.is_known else None)
        for measure, growth in zip(TOTALS, growths, strict=True)
    ]


def pair_rows(pairs: tuple[ComparedPair, ...]) -> Rows:
    """Return the reserved bytes of paired compilations, and of those without a partner."""
    return [
        (
            pair.module,
            pair.a.key if pair.a else None,
            pair.b.key if pair.b else None,
            pair.reserved.bytes_a,
            pair.reserved.bytes_b,
            pair.reserved.growth_bytes,
        )
        for pair in pairs
    ]


def group_rows(comparison: Comparison, by: By, limit: int | None) -> Rows:
    """Return the `limit` largest groups, and all others as one row; all if `limit` is None."""
    growths = comparison.groups[by]
    shown = largest_groups(growths, len(growths) if limit is None else limit)
    return [
        (*growth.group, growth.bytes_a, growth.bytes_b, growth.growth_bytes) for growth in shown
    ]


def one_row(comparison: Comparison) -> tuple[Cell, ...]:
    """Return a comparison as one row of `ONE_ROW_COLUMNS`; None where it has no such grouping."""
    reserved, peak = comparison.reserved, comparison.growth_of("physicalPeak")
    unpaired_a = sum(1 for pair in comparison.unpaired if pair.a)
    return (
        comparison.a.name,
        comparison.b.name,
        reserved.bytes_a,
        reserved.bytes_b,
        reserved.growth_bytes,
        reserved.share,
        peak.bytes_a,
        peak.bytes_b,
        peak.growth_bytes if peak.is_known else None,
        unpaired_a,
        len(comparison.unpaired) - unpaired_a,
        *_most_grown(comparison, By.LINE),
        *_most_grown(comparison, By.OP),
    )


def _most_grown(comparison: Comparison, by: By) -> tuple[Cell, Cell]:
    # the largest change comes first, and that may be one that shrank
    growths = comparison.groups.get(by, ())
    grown = (growth for growth in growths if growth.growth_bytes > 0 and growth.group[0])
    first = next(grown, None)
    return (None, None) if first is None else (_group_name(first.group), first.growth_bytes)


def _group_name(cells: tuple[Cell, ...]) -> Cell:
    known = [str(cell) for cell in cells if cell is not None]
    return ":".join(known) if known else None
