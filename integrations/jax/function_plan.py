"""The memory plan of a compiled function, and what the graph knows about it."""

import weakref
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Self

from xlagraph.graph import Graph, open_graph
from xlagraph.ingest.compiled import ingest_held
from xlagraph.ingest.error_message import Failure, read_error_log
from xlagraph.ingest.error_message.failure import Stage
from xlagraph.ingest.files.compiled_dump import compiled_dump
from xlagraph.ingest.files.discovery import DumpFiles
from xlagraph.ingest.measures.peaks import SpacePeaks
from xlagraph.ingest.preparation.space_peaks import space_peaks
from xlagraph.presentation.byte_sizes import human_bytes, parse_bytes
from xlagraph.presentation.html_tables import html_notes, html_title, measured_table
from xlagraph.queries import Answer, Changes, Diagnosis, WhatIf, advise, run, whatif

if TYPE_CHECKING:
    from xlagraph.report import Report

__all__ = ["FunctionPlan", "plan_of_compiled", "size_of"]

_SHOWN_LINES: Final = 10


class FunctionPlan:
    """The memory plan of one compiled function.

    `reserved` and `peak` are there at once. The first question makes a graph of its own in a
    temporary file, which is removed with the plan, at `close`, or at the end of a `with` block.
    """

    def __init__(self, dump: DumpFiles, error: str | None = None) -> None:
        self._dump = dump
        self.error: Final = error
        """What the compiler said after the memory was planned; None if it finished."""
        self._close: weakref.finalize[..., Any] | None = None

    @property
    def name(self) -> str:
        """Run and module: ``step/jit_step(3)``."""
        return self._dump.key

    @property
    def platform(self) -> str | None:
        """``cpu``, ``gpu``, …; None where the dump does not tell, as on TPUs."""
        return self._dump.name.platform

    @cached_property
    def _space(self) -> SpacePeaks | None:
        return next((each for each in space_peaks(self._dump) if each.color == 0), None)

    @property
    def reserved(self) -> int:
        """Bytes that running it takes in memory space 0, thread-local memory left out."""
        return self._space.reserved_bytes if self._space is not None else 0

    @property
    def peak(self) -> int | None:
        """Physical peak in memory space 0, in bytes; None without live ranges."""
        return self._space.physical.bytes if self._space is not None else 0

    @cached_property
    def failure(self) -> Failure | None:
        """The out-of-memory message of the compiler; None where `error` is none."""
        return next(iter(read_error_log((self.error or "").splitlines()).failures), None)

    def fits(self, capacity: str | int | None = None) -> bool:
        """Return whether the plan fits into a capacity, such as ``16GiB``, and the compiler agrees.

        Without a capacity the compiler alone decides. Raises ValueError for what is not a size.
        """
        if self.failure is not None and self.failure.stage is Stage.PLAN:
            return False
        return capacity is None or self.reserved <= size_of(capacity)

    @cached_property
    def graph(self) -> Graph:
        """A graph that holds this plan alone; it is closed with the plan."""
        folder = TemporaryDirectory(prefix="xlagraph-")
        graph = open_graph(Path(folder.name) / "plan.lbug", create=True)
        self._close = weakref.finalize(self, _remove, graph, folder)
        _ingest(graph, self._dump)
        return graph

    def ask(self, query: str, **parameters: Any) -> Answer:  # noqa: ANN401 - cells of any type
        """Ask a canned query, such as ``alias/donated``."""
        return run(self.graph, query, compilation=self.name, **parameters)

    def by_line(self, limit: int = 20) -> Answer:
        """Return the source lines that hold most at the peak: rows of `peak/by-line`."""
        return self.ask("peak/by-line", limit=limit)

    def advise(self) -> Diagnosis:
        """Return what to change, most bytes first."""
        return advise(self.graph, self.name)

    def whatif(
        self,
        *,
        donate: Sequence[str] = (),
        without: Sequence[str] = (),
        until_last_use: Sequence[str] = (),
        shrink: Mapping[str, float | str | Fraction] | None = None,
        checkpoint: Sequence[str] = (),
    ) -> WhatIf:
        """Replan the memory the way XLA would after a change; patterns as in `xlagraph whatif`.

        Raises NoSuchName where a pattern names nothing.
        """
        changes = Changes(
            donate=donate,
            without=without,
            until_last_use=until_last_use,
            shrink=shrink or {},
            checkpoint=checkpoint,
        )
        return whatif(self.graph, self.name, changes)

    def report(self, file: str | Path | None = None) -> "Report":
        """Return the page of `xlagraph report`; write it to a file, if one is named."""
        from xlagraph.report import make_report

        made = make_report(self.graph, [self.name])
        if file is not None:
            Path(file).write_text(made.html, encoding="utf-8")
        return made

    def save(self, location: str | Path) -> None:
        """Add the plan to a graph that stays, for `xlagraph … --graph FILE`.

        Raises `GraphError` if the graph fails.
        """
        with open_graph(location, create=True) as graph:
            _ingest(graph, self._dump)

    def close(self) -> None:
        """Remove the graph of the plan; it is made again if another question comes."""
        if self._close is not None:
            self._close()
            self._close = None
            del self.graph

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        peak = "unknown" if self.peak is None else human_bytes(self.peak)
        refused = "" if self.error is None else f"; the compiler: {_first_line(self.error)}"
        return f"<{self.name}: reserves {human_bytes(self.reserved)}, peak {peak}{refused}>"

    def _repr_html_(self) -> str:
        columns = ("platform", "reservedBytes", "peakBytes")
        totals = measured_table(columns, [(self.platform, self.reserved, self.peak)])
        notes = [] if self.error is None else [_first_line(self.error)]
        lines = self.by_line(_SHOWN_LINES).result
        table = measured_table(lines.columns, lines.rows)
        return html_title(self.name) + html_notes(notes) + totals + table


def plan_of_compiled(
    compiled: Any,  # noqa: ANN401 - of any version of JAX
    name: str = "compiled",
) -> FunctionPlan:
    """Return the plan of what `jax.jit(f).lower(…).compile()` returned, on CPUs.

    Raises TypeError for anything else, and NoMemoryPlan where it does not hold its plan.
    """
    return FunctionPlan(compiled_dump(compiled, name))


def size_of(capacity: str | int) -> int:
    """Return bytes, given as a number or as ``16GiB``; ValueError for what is not a size."""
    return capacity if isinstance(capacity, int) else parse_bytes(capacity)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]


def _ingest(graph: Graph, dump: DumpFiles) -> None:
    summary = ingest_held(graph, dump)
    if not (summary.added or summary.updated or summary.unchanged):
        raise ValueError("; ".join(map(str, summary.problems)))


def _remove(graph: Graph, folder: "TemporaryDirectory[str]") -> None:
    graph.close()
    folder.cleanup()
