"""Compare XLA's totals with the graph, and both with limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from xlagraph.graph.engine import Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.presentation.outlines import Outline, Outlined, OutlineTable
from xlagraph.queries.runner.compilations import select_all

_TOTALS: Final = load_statement(__file__, "compilation-totals")
_STATISTICS: Final = load_statement(__file__, "disagreeing-statistics")


class CheckedCompilation(NamedTuple):
    """Totals of one compilation. Reserved bytes and peaks are those of memory space 0."""

    run: str
    compilation: str
    total_bytes: int | None
    """Total that XLA prints; None if the dump has no total."""
    allocation_bytes: int
    """Sum of the allocations in the graph, or the sum made by ingest if the graph has none."""
    reserved_bytes: int
    logical_peak_bytes: int | None
    physical_peak_bytes: int | None
    """Physical peak; None without live ranges."""
    has_ranges: bool
    """True if it has a schedule, and therefore live ranges."""
    heap_trace_agrees: bool | None
    """True if XLA's heap trace agrees with derived live ranges; None if not compared."""

    @property
    def agrees(self) -> bool | None:
        """True if XLA's total is the sum of the allocations; None if XLA prints no total."""
        return None if self.total_bytes is None else self.total_bytes == self.allocation_bytes


class DisagreeingStatistic(NamedTuple):
    """A number of JAX's memory analysis that differs from the sum of the allocations."""

    compilation: str
    field: str
    stated_bytes: int
    allocation_bytes: int


@dataclass(frozen=True, slots=True, repr=False)
class CheckResult(Outlined):
    """The checked compilations, in order of run and key."""

    compilations: tuple[CheckedCompilation, ...]
    statistics: tuple[DisagreeingStatistic, ...] = ()
    """Numbers of JAX's memory analysis that disagree with the allocations."""

    def outline(self) -> Outline:
        """Return the totals of each compilation."""
        columns = ("compilation", "reservedBytes", "physicalPeakBytes", "agrees")
        rows = [
            (each.compilation, each.reserved_bytes, each.physical_peak_bytes, each.agrees)
            for each in self.compilations
        ]
        return Outline("Totals of XLA and of the graph", [OutlineTable(columns, rows)])

    @property
    def disagreeing(self) -> tuple[CheckedCompilation, ...]:
        """Compilations whose allocations do not add up to XLA's total."""
        return tuple(checked for checked in self.compilations if checked.agrees is False)

    def reserving_more_than(self, limit_bytes: int) -> tuple[CheckedCompilation, ...]:
        """Return compilations that reserve more than a limit in memory space 0."""
        return tuple(
            checked for checked in self.compilations if checked.reserved_bytes > limit_bytes
        )

    def peaking_above(self, limit_bytes: int) -> tuple[CheckedCompilation, ...]:
        """Return compilations with a known physical peak above a limit in memory space 0."""
        return tuple(
            checked
            for checked in self.compilations
            if (checked.physical_peak_bytes or 0) > limit_bytes
        )

    @property
    def without_ranges(self) -> tuple[CheckedCompilation, ...]:
        """Compilations without a schedule."""
        return tuple(checked for checked in self.compilations if not checked.has_ranges)

    @property
    def uncertain(self) -> tuple[CheckedCompilation, ...]:
        """Compilations whose derived live ranges contradict XLA's heap trace."""
        return tuple(checked for checked in self.compilations if checked.heap_trace_agrees is False)

    @property
    def without_peak(self) -> tuple[CheckedCompilation, ...]:
        """Compilations with an unknown peak, because the dump has no live ranges."""
        return tuple(
            checked for checked in self.compilations if checked.physical_peak_bytes is None
        )


def check(graph: Graph, names: Sequence[str] = ()) -> CheckResult:
    """Check the named runs and compilations, or all in the graph.

    Raises EmptyGraph if there is nothing to check.
    """
    selected = {"compilations": list(select_all(graph, names))}
    return CheckResult(
        tuple(
            CheckedCompilation(*cast("CheckedCompilation", row))
            for row in graph.query(_TOTALS, selected).rows
        ),
        tuple(
            DisagreeingStatistic(*cast("DisagreeingStatistic", row))
            for row in graph.query(_STATISTICS, selected).rows
        ),
    )
