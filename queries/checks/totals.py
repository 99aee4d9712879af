"""Compare what XLA says it uses with what the graph holds, and both with limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from xlagraph.graph.engine import Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.selection.compilations import select_all

_TOTALS: Final = load_statement(__file__, "totals")


class CheckedCompilation(NamedTuple):
    """The totals of one compilation; reserved bytes and peaks are of memory space 0."""

    run: str
    compilation: str
    total_bytes: int | None
    """As XLA prints it; None where the dump has no total."""
    allocation_bytes: int
    """Added up from the allocations that the graph holds; by the ingest where it holds none."""
    reserved_bytes: int
    logical_peak_bytes: int | None
    physical_peak_bytes: int | None
    """None without live ranges."""
    has_ranges: bool
    """Whether it has a schedule, and so live ranges."""
    heap_trace_agrees: bool | None
    """Whether XLA's heap trace agrees with derived live ranges; None where it is not asked."""

    @property
    def agrees(self) -> bool | None:
        """Whether XLA's total is the sum of the allocations; None if XLA prints none."""
        return None if self.total_bytes is None else self.total_bytes == self.allocation_bytes


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What was checked, in order of run and key."""

    compilations: tuple[CheckedCompilation, ...]

    @property
    def disagreeing(self) -> tuple[CheckedCompilation, ...]:
        """Those whose allocations do not add up to XLA's total."""
        return tuple(checked for checked in self.compilations if checked.agrees is False)

    def reserving_more_than(self, limit_bytes: int) -> tuple[CheckedCompilation, ...]:
        """Return those that reserve more in memory space 0; exactly the limit is within it."""
        return tuple(
            checked for checked in self.compilations if checked.reserved_bytes > limit_bytes
        )

    def peaking_above(self, limit_bytes: int) -> tuple[CheckedCompilation, ...]:
        """Return those whose physical peak in memory space 0 is higher; unknown peaks are not."""
        return tuple(
            checked
            for checked in self.compilations
            if (checked.physical_peak_bytes or 0) > limit_bytes
        )

    @property
    def without_ranges(self) -> tuple[CheckedCompilation, ...]:
        """Those without a schedule."""
        return tuple(checked for checked in self.compilations if not checked.has_ranges)

    @property
    def uncertain(self) -> tuple[CheckedCompilation, ...]:
        """Those whose derived live ranges XLA's heap trace contradicts."""
        return tuple(checked for checked in self.compilations if checked.heap_trace_agrees is False)

    @property
    def without_peak(self) -> tuple[CheckedCompilation, ...]:
        """Those whose dump has no live ranges, so that nobody knows their peak."""
        return tuple(
            checked for checked in self.compilations if checked.physical_peak_bytes is None
        )


def check(graph: Graph, names: Sequence[str] = ()) -> CheckResult:
    """Check runs and compilations; all that the graph holds if none is named.

    Raises EmptyGraph if there is nothing to check.
    """
    rows = graph.query(_TOTALS, {"compilations": list(select_all(graph, names))}).rows
    return CheckResult(tuple(CheckedCompilation(*cast("CheckedCompilation", row)) for row in rows))
