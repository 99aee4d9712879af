"""The memory plan of a compiled function, and queries about it."""

import weakref
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Self

from xlagraph.advice.error_message import Failure, read_error_log
from xlagraph.advice.error_message.failure import Stage
from xlagraph.graph import Graph, open_graph
from xlagraph.ingest.files.dump_files import DumpFiles
from xlagraph.ingest.files.memory_dumps import compiled_dump
from xlagraph.ingest.loading.compiled import ingest_held, space_peaks
from xlagraph.ingest.measures.peaks import SpacePeaks
from xlagraph.presentation.byte_sizes import human_bytes, known_bytes, parse_bytes
from xlagraph.presentation.outlines import Outline, Outlined, OutlineTable
from xlagraph.queries import (
    Answer,
    Changes,
    Diagnosis,
    OrderCost,
    WhatIf,
    advise,
    order_cost,
    run,
    whatif,
)

if TYPE_CHECKING:
    from xlagraph.report import Report
    from xlagraph.tracking import Tracker

_SHOWN_LINES: Final = 10

Patterns = Sequence[str | int] | str | int
"""One pattern of names or several; a number is that of a parameter."""


class FunctionPlan(Outlined):
    """The memory plan of one compiled function.

    `reserved` and `peak` need no graph. The first query creates a graph in a temporary folder,
    which is removed with the plan, at `close`, or at the end of a `with` block.
    """

    def __init__(self, dump: DumpFiles, error: str | None = None) -> None:
        self._dump = dump
        self.error: Final = error
        """Error of the compiler after it planned the memory; None if it finished."""
        self._close: weakref.finalize[..., Any] | None = None

    @property
    def name(self) -> str:
        """Run and module: ``step/jit_step(3)``."""
        return self._dump.key

    @property
    def platform(self) -> str | None:
        """Platform: ``cpu``, ``gpu``, …; None if the dump does not say, as for TPUs."""
        return self._dump.name.platform

    @cached_property
    def _space(self) -> SpacePeaks | None:
        return next((each for each in space_peaks(self._dump) if each.memory_space == 0), None)

    @property
    def reserved(self) -> int:
        """Reserved bytes in memory space 0, without thread-local allocations."""
        return self._space.reserved_bytes if self._space is not None else 0

    @property
    def peak(self) -> int | None:
        """Physical peak in memory space 0, in bytes; None without live ranges."""
        return self._space.physical.bytes if self._space is not None else 0

    @cached_property
    def failure(self) -> Failure | None:
        """The compiler's out-of-memory failure; None if `error` does not report one."""
        return next(iter(read_error_log((self.error or "").splitlines()).failures), None)

    def fits(self, capacity: str | int | None = None) -> bool:
        """Return True if the compiler accepted the plan and it fits a capacity such as ``16GiB``.

        Without a capacity only the compiler decides. Raises ValueError if the capacity is not a
        size.
        """
        if self.failure is not None and self.failure.stage is Stage.PLAN:
            return False
        return capacity is None or self.reserved <= size_of(capacity)

    @cached_property
    def graph(self) -> Graph:
        """A graph that contains only this plan; it is closed with the plan."""
        folder = TemporaryDirectory(prefix="xlagraph-")
        graph = open_graph(Path(folder.name) / "plan.lbug", create=True)
        self._close = weakref.finalize(self, _remove, graph, folder)
        _ingest(graph, self._dump)
        return graph

    def ask(self, query: str, **parameters: Any) -> Answer:  # noqa: ANN401 - cells of any type
        """Run a query of the catalogue, such as ``alias/donated``."""
        return run(self.graph, query, compilation=self.name, **parameters)

    def by_line(self, limit: int = 20) -> Answer:
        """Return the source lines with most bytes at the peak: the rows of `peak/by-line`."""
        return self.ask("peak/by-line", limit=limit)

    def advise(self) -> Diagnosis:
        """Return recommended changes, sorted by savings, descending."""
        return advise(self.graph, self.name)

    def order(self) -> OrderCost:
        """Return what the order of instructions costs, and which of XLA's orders reserve less.

        Raises QueryError for a plan without live ranges.
        """
        return order_cost(self.graph, self.name)

    def whatif(
        self,
        *,
        donate: Patterns = (),
        without: Patterns = (),
        until_last_use: Patterns = (),
        shrink: Mapping[str, float | str | Fraction] | None = None,
        checkpoint: Patterns = (),
        batch: float | str | Fraction | None = None,
        batch_of: Patterns = (),
        schedule: str | None = None,
    ) -> WhatIf:
        """Replan the memory the way XLA would after a change; patterns as in `xlagraph whatif`.

        A string is one pattern: `donate="all"`; a number is that of a parameter. Raises NoSuchName
        if a pattern matches nothing, and BadParameter if its brackets are not balanced or if no
        `batch_of` says which dimension the `batch` is.
        """
        changes = Changes(
            donate=_patterns(donate),
            without=_patterns(without),
            until_last_use=_patterns(until_last_use),
            shrink=shrink or {},
            checkpoint=_patterns(checkpoint),
            batch=batch,
            batch_of=_patterns(batch_of),
            schedule=schedule,
        )
        return whatif(self.graph, self.name, changes)

    def report(self, file: str | Path | None = None) -> "Report":
        """Return the page of `xlagraph report`, which a notebook shows; write it to ``file``.

        A written report is a path: `open(plan.report("step.html"))` opens it.
        """
        from xlagraph.report import make_report

        made = make_report(self.graph, [self.name])
        return made if file is None else made.written_to(Path(file))

    def save(self, location: str | Path, *, run: str | None = None, replace: bool = False) -> None:
        """Add the plan to a permanent graph, for `xlagraph … --graph FILE`.

        ``run`` is the name of its run there, by default that of the plan. ``replace`` lets it
        replace a run of that name that came from elsewhere. Raises `GraphError` if the graph
        fails, and ValueError if it has another plan of that name.
        """
        with open_graph(location, create=True) as graph:
            _ingest(graph, self._dump, run=run, replace=replace)

    def log_to(self, tracker: "Tracker", *, prefix: str = "memory_plan") -> dict[str, int]:
        """Log the plan's numbers, report and graph: see `xlagraph.tracking.log_to`."""
        from xlagraph.tracking import log_to

        return log_to(tracker, self.graph, self.name, prefix=prefix)

    def close(self) -> None:
        """Remove the plan's graph; the next query creates it again."""
        if self._close is not None:
            self._close()
            self._close = None
            del self.graph

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        rejected = "" if self.error is None else f"; the compiler: {_first_line(self.error)}"
        peak = known_bytes(self.peak)
        return f"<{self.name}: reserves {human_bytes(self.reserved)}, peak {peak}{rejected}>"

    def outline(self) -> Outline:
        """Return the totals, and the source lines with most bytes at the peak."""
        columns = ("platform", "reservedBytes", "peakBytes")
        totals = OutlineTable(columns, [(self.platform, self.reserved, self.peak)])
        lines = self.by_line(_SHOWN_LINES).result
        notes = [] if self.error is None else [_first_line(self.error)]
        return Outline(self.name, [totals, OutlineTable(lines.columns, lines.rows)], notes)


def plan_of_compiled(
    compiled: Any,  # noqa: ANN401 - of any version of JAX
    name: str = "compiled",
) -> FunctionPlan:
    """Return the plan of a compiled function, `jax.jit(f).lower(…).compile()`, on CPUs.

    Raises TypeError for anything else, and NoMemoryPlan if it does not contain its plan.
    """
    return FunctionPlan(compiled_dump(compiled, name))


def size_of(capacity: str | int) -> int:
    """Return a size in bytes, from a number or a text such as ``16GiB``; else ValueError."""
    return capacity if isinstance(capacity, int) else parse_bytes(capacity)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]


def _patterns(given: Patterns) -> tuple[str, ...]:
    """Return patterns as a sequence of strings; a string is one pattern, not its characters."""
    return (str(given),) if isinstance(given, str | int) else tuple(map(str, given))


def _ingest(
    graph: Graph, dump: DumpFiles, *, run: str | None = None, replace: bool = False
) -> None:
    summary = ingest_held(graph, dump, run=run, replace=replace)
    if not (summary.added or summary.updated or summary.unchanged):
        raise ValueError("; ".join(map(str, summary.problems)))


def _remove(graph: Graph, folder: "TemporaryDirectory[str]") -> None:
    graph.close()
    folder.cleanup()
