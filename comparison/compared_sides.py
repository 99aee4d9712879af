"""A comparison of two sides, and its rows: all parts, one grouping, or one summary row."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

from xlagraph.comparison.groups import (
    GROWTH_COLUMNS,
    By,
    GroupGrowth,
    group_name,
    largest_groups,
)
from xlagraph.comparison.sentences import Sentence
from xlagraph.graph.engine import Cell, Result, Tabular
from xlagraph.presentation.byte_sizes import human_bytes, share_text
from xlagraph.presentation.outlines import Outline, OutlineTable
from xlagraph.queries.runner.compilations import Selection

_ROWS: Final = 10
"""Number of groups that a notebook shows of each grouping."""

TotalName = Literal["reserved", "logicalPeak", "physicalPeak", "allocation"]
"""Name of a compared total, in the order of `Totals`."""
TOTALS: Final[tuple[TotalName, ...]] = get_args(TotalName)


class Totals(NamedTuple):
    """Byte counts of a compilation, or sums over several; None if no dump has the figure.

    The first three count memory space 0. The last one counts all allocations, thread-local ones
    too.
    """

    reserved_bytes: int | None
    logical_peak_bytes: int | None
    physical_peak_bytes: int | None
    allocation_bytes: int | None


Signature = tuple[tuple[int | str, ...], ...]
"""Shapes of the parameters by number and shape index, then shape of the result."""


class ComparedCompilation(NamedTuple):
    """A compilation of one side."""

    key: str
    module: str | None
    """Name of the module without its number; None matches None."""
    module_number: int | None
    totals: Totals
    signature: Signature = ()
    """Empty if compilations are not paired by it."""


@dataclass(frozen=True, slots=True)
class Growth:
    """A byte count on both sides; None if it is unknown on that side."""

    bytes_a: int | None
    bytes_b: int | None

    @property
    def growth_bytes(self) -> int:
        """Bytes that the second side has more; an unknown side counts as 0."""
        return (self.bytes_b or 0) - (self.bytes_a or 0)

    @property
    def is_known(self) -> bool:
        """True if both sides have a count."""
        return self.bytes_a is not None and self.bytes_b is not None

    @property
    def share(self) -> float | None:
        """Growth divided by the first side; None if that is 0 or unknown."""
        return self.growth_bytes / self.bytes_a if self.bytes_a else None

    def exceeds_bytes(self, limit_bytes: int) -> bool:
        """Return True if the growth is above the limit. A growth equal to the limit passes."""
        return self.growth_bytes > limit_bytes

    def exceeds_share(self, limit: float) -> bool:
        """Return True if the growth is above this share of the first side: 0.02 is 2 %."""
        return self.growth_bytes > limit * (self.bytes_a or 0)


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two compilations, or one without a partner."""

    a: ComparedCompilation | None
    b: ComparedCompilation | None

    @property
    def module(self) -> str | None:
        """Name of the module, without its number."""
        known = self.b or self.a
        return known.module if known else None

    @property
    def reserved(self) -> Growth:
        """Reserved bytes of memory space 0."""
        return Growth(
            self.a.totals.reserved_bytes if self.a else None,
            self.b.totals.reserved_bytes if self.b else None,
        )


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Tabular):
    """Byte counts of two sides, by compilation and by group.

    Bytes are sums over all compilations of a side, including unpaired ones.
    """

    a: Selection
    b: Selection
    totals_a: Totals
    totals_b: Totals
    pairs: tuple[ComparedPair, ...]
    """Compilations with a partner, the largest change of reserved bytes first."""
    unpaired: tuple[ComparedPair, ...]
    """Compilations without a partner: the first side, then the second, each sorted by key."""
    groups: Mapping[By, tuple[GroupGrowth, ...]]
    """Rows of each grouping, sorted by absolute growth, descending."""
    sentences: tuple[Sentence, ...] = ()
    """Reasons for the change of the reserved bytes, sorted by bytes, descending. They add up to the
    growth. Empty if nothing changed, or if no explanation was requested."""

    def growth_of(self, measure: TotalName) -> Growth:
        """Return one of the totals on both sides."""
        index = TOTALS.index(measure)
        return Growth(self.totals_a[index], self.totals_b[index])

    @property
    def reserved(self) -> Growth:
        """Sum of the reserved bytes of memory space 0, which a gate checks."""
        return self.growth_of("reserved")

    @property
    def unpaired_counts(self) -> tuple[tuple[str, int], tuple[str, int]]:
        """Name of each side, and how many of its compilations have no partner."""
        only_a = sum(1 for pair in self.unpaired if pair.a)
        return (self.a.name, only_a), (self.b.name, len(self.unpaired) - only_a)

    def without_peak(self, side: Selection) -> tuple[str, ...]:
        """Return the keys of a side's compilations without live ranges, and so without a peak."""
        pairs = (*self.pairs, *self.unpaired)
        sides = [pair.b for pair in pairs] if side is self.b else [pair.a for pair in pairs]
        return tuple(
            compilation.key
            for compilation in sides
            if compilation and compilation.totals.physical_peak_bytes is None
        )

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        return iter(self._result())

    @property
    def headline(self) -> str:
        """Sentence that says if the reserved bytes grew, and by how much."""
        growth = self.reserved
        before, after = growth.bytes_a or 0, growth.bytes_b or 0
        sides = f"{self.a.name} → {self.b.name}"
        if growth.growth_bytes == 0:
            return f"{sides}: reserved bytes stay at {human_bytes(after)}{self.summed_over}"
        share = "" if growth.share is None else f" ({share_text(growth.share, signed=True)})"
        verb = "grow" if growth.growth_bytes > 0 else "shrink"
        return (
            f"{sides}: reserved bytes {verb} by {human_bytes(abs(growth.growth_bytes))}{share},"
            f" from {human_bytes(before)} to {human_bytes(after)}{self.summed_over}"
        )

    @property
    def summed_over(self) -> str:
        """`, summed over 2 programs` if a side has several programs, otherwise empty."""
        counts = sorted({len(self.a.compilations), len(self.b.compilations)})
        if counts[-1] < 2:
            return ""
        return f", summed over {' and '.join(map(str, counts))} programs"

    def outline(self) -> Outline:
        """Return the totals, the reasons for the change, and each grouping."""
        groups = [
            OutlineTable((*by.columns, *GROWTH_COLUMNS), group_rows(self, by, _ROWS), f"By {by}")
            for by in self.groups
        ]
        return Outline(
            self.headline,
            [OutlineTable(("measure", *GROWTH_COLUMNS), total_rows(self))],
            [sentence.line for sentence in self.sentences],
            groups,
        )

    def _result(self) -> Result:
        return comparison_result(self)


Rows = list[tuple[Cell, ...]]

PART_COLUMNS: Final = ("part", "name", "compilationA", "compilationB", *GROWTH_COLUMNS)
ONE_ROW_COLUMNS: Final = (
    "a", "b", "reservedBytesA", "reservedBytesB", "growthBytes", "growthShare",
    "physicalPeakBytesA", "physicalPeakBytesB", "peakGrowthBytes",
    "unpairedA", "unpairedB", "grownLine", "grownLineBytes", "grownOp", "grownOpBytes",
)  # fmt: skip


def comparison_result(comparison: Comparison, limit: int | None = None) -> Result:
    """Return all parts as one table with up to `limit` groups per grouping; None for all."""
    return Result(PART_COLUMNS, tuple(part_rows(comparison, limit)))


def part_rows(comparison: Comparison, limit: int | None) -> Rows:
    """Return the totals, each compilation's reserved bytes, the reasons, then each grouping."""
    compilations = [
        (part, *row)
        for part, pairs in (("compilation", comparison.pairs), ("unpaired", comparison.unpaired))
        for row in pair_rows(pairs)
    ]
    groups = [
        (by.value, group_name(by, row[: len(by.columns)]), None, None, *row[len(by.columns) :])
        for by in comparison.groups
        for row in group_rows(comparison, by, limit)
    ]
    totals = [("total", name, None, None, *rest) for name, *rest in total_rows(comparison)]
    reasons = [
        ("reason", sentence.text, None, None, None, None, sentence.growth_bytes)
        for sentence in comparison.sentences
    ]
    return [*totals, *compilations, *reasons, *groups]


def total_rows(comparison: Comparison) -> Rows:
    """Return each measure, summed over all compilations of a side; None if it is unknown."""
    growths = [comparison.growth_of(measure) for measure in TOTALS]
    return [
        (measure, growth.bytes_a, growth.bytes_b, growth.growth_bytes if growth.is_known else None)
        for measure, growth in zip(TOTALS, growths, strict=True)
    ]


def pair_rows(pairs: tuple[ComparedPair, ...]) -> Rows:
    """Return the reserved bytes of each pair, or of a compilation without a partner."""
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
    """Return the `limit` largest groups, and the sum of the others; all groups if it is None."""
    growths = comparison.groups[by]
    shown = largest_groups(growths, len(growths) if limit is None else limit)
    return [
        (*growth.group, growth.bytes_a, growth.bytes_b, growth.growth_bytes) for growth in shown
    ]


def one_row(comparison: Comparison) -> tuple[Cell, ...]:
    """Return a comparison as one row of `ONE_ROW_COLUMNS`; None if it has no such grouping."""
    reserved, peak = comparison.reserved, comparison.growth_of("physicalPeak")
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
        *(count for _, count in comparison.unpaired_counts),
        *_most_grown(comparison, By.LINE),
        *_most_grown(comparison, By.OP),
    )


def _most_grown(comparison: Comparison, by: By) -> tuple[Cell, Cell]:
    # the largest change is first, and it may be a decrease
    growths = comparison.groups.get(by, ())
    grown = ((group_name(by, each.group), each.growth_bytes) for each in growths)
    return next((each for each in grown if each[0] and each[1] > 0), (None, None))
