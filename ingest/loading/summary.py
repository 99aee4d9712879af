"""Progress and summary of an ingest, counted while it runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from xlagraph.graph.engine import CompilationDigest
from xlagraph.ingest.errors import Problem, readable
from xlagraph.ingest.files.dump_files import DumpFiles
from xlagraph.ingest.loading.job import JobOutcome
from xlagraph.ingest.rows.counts import RowCounts


class Disagreement(NamedTuple):
    """A compilation whose allocations do not add up to the total that XLA prints."""

    compilation: str
    total_bytes: int
    allocation_bytes: int


class Progress(NamedTuple):
    """An ingest's progress; sizes are those of the files on disk.

    While a server writes, only the share that it has written counts as done.
    """

    bytes_done: int
    bytes_total: int
    compilations_done: int
    compilations_total: int
    file: str
    """The allocation file that was finished most recently; empty before the first."""


@dataclass(frozen=True, slots=True, repr=False)
class IngestSummary:
    """The result of one ingest. Compilations are given by key, ordered by run and key."""

    runs: tuple[str, ...]
    """Runs with a compilation that was added, updated or unchanged."""
    added: tuple[str, ...]
    updated: tuple[str, ...]
    """Compilations that were replaced, because their content or folder differed."""
    unchanged: tuple[str, ...]
    """Compilations that were skipped, because their content was the same."""
    moved: tuple[str, ...]
    """Old keys that were removed, because the dump now has another key."""
    gone: tuple[str, ...]
    """Compilations that are kept in the graph, but whose files no longer exist."""
    dropped: tuple[str, ...]
    """Compilations that were removed on request, because their files no longer exist."""
    problems: tuple[Problem, ...]
    agreeing: int
    """Number of compilations whose allocations add up to ``Total bytes used``, with unchanged."""
    disagreeing: tuple[Disagreement, ...]
    missing: Mapping[str, tuple[str, ...]]
    """Missing parts of each dump, by compilation; unchanged dumps are not parsed."""
    values: int
    """Number of values in the compilations that were added or updated."""
    nodes: int
    """Number of nodes of these compilations; a node that they share counts once."""
    relationships: int
    """Number of relationships of these compilations."""
    bytes_read: int
    """Size on disk of the compilations that were added, updated or unchanged."""
    seconds: float
    dry_run: bool = False
    """True if nothing was written; the other fields describe the ingest that would happen."""
    stopped: bool = False
    """True if the ingest stopped at the first problem, on request; the rest was not read."""

    def __repr__(self) -> str:
        problems = f"; problems: {len(self.problems)}, {self.problems[0]}" if self.problems else ""
        return (
            f"<IngestSummary: {len(self.added)} added, {len(self.updated)} replaced,"
            f" {len(self.unchanged)} unchanged{problems}>"
        )

    @property
    def ok(self) -> bool:
        """True if there were dumps, none was skipped because of a problem, and all totals agree."""
        found = self.added or self.updated or self.unchanged
        return bool(found) and not self.disagreeing and not any(p.left_out for p in self.problems)


def merged_summary(
    summaries: Iterable[IngestSummary], problems: Iterable[Problem], seconds: float
) -> IngestSummary:
    """Merge the summaries of parallel ingests of different dumps, and earlier problems."""
    parts = list(summaries)
    missing = {key: lacking for part in parts for key, lacking in part.missing.items()}

    def keys(*groups: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(set(chain.from_iterable(groups))))

    return IngestSummary(
        runs=keys(*(part.runs for part in parts)),
        added=keys(*(part.added for part in parts)),
        updated=keys(*(part.updated for part in parts)),
        unchanged=keys(*(part.unchanged for part in parts)),
        moved=keys(*(part.moved for part in parts)),
        gone=keys(*(part.gone for part in parts)),
        dropped=keys(*(part.dropped for part in parts)),
        problems=(*problems, *chain.from_iterable(part.problems for part in parts)),
        agreeing=sum(part.agreeing for part in parts),
        disagreeing=tuple(sorted(chain.from_iterable(part.disagreeing for part in parts))),
        missing=dict(sorted(missing.items())),
        values=sum(part.values for part in parts),
        nodes=sum(part.nodes for part in parts),
        relationships=sum(part.relationships for part in parts),
        bytes_read=sum(part.bytes_read for part in parts),
        seconds=seconds,
    )


@dataclass(slots=True)
class Tally:
    """The results of an ingest so far."""

    problems: list[Problem]
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    agreeing: int = 0
    disagreeing: list[Disagreement] = field(default_factory=list)
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    rows: RowCounts = field(default_factory=RowCounts)
    bytes_read: int = 0
    has_stopped: bool = False

    @property
    def has_left_out(self) -> bool:
        """True if a file or folder was skipped because of a problem."""
        return any(problem.left_out for problem in self.problems)

    def count(self, dump: DumpFiles, stored: CompilationDigest | None, outcome: JobOutcome) -> None:
        """Count the outcome of one dump."""
        self.problems.extend(outcome.problems)
        if outcome.is_unchanged and stored is not None:
            self.count_unchanged(dump, stored)
        elif outcome.has_rows:
            (self.added if stored is None else self.updated).append(dump.key)
            self.bytes_read += dump.size_bytes
            if outcome.missing:
                self.missing[dump.key] = outcome.missing
            self._compare_totals(dump.key, outcome.total_bytes, outcome.allocation_bytes)

    def count_unchanged(self, dump: DumpFiles, stored: CompilationDigest) -> None:
        """Count a dump whose content is the stored one."""
        self.unchanged.append(dump.key)
        self.bytes_read += dump.size_bytes
        self._compare_totals(dump.key, stored.total_bytes, stored.allocation_bytes)

    def _compare_totals(self, key: str, total_bytes: int | None, allocation_bytes: int) -> None:
        if total_bytes == allocation_bytes:
            self.agreeing += 1
        elif total_bytes is not None:
            self.disagreeing.append(Disagreement(key, total_bytes, allocation_bytes))

    def summary(
        self, dumps: Sequence[DumpFiles], seconds: float, *, dry_run: bool
    ) -> IngestSummary:
        """Return the ingest's summary."""
        loaded = {*self.added, *self.updated, *self.unchanged}
        return IngestSummary(
            runs=tuple(dict.fromkeys(dump.run for dump in dumps if dump.key in loaded)),
            added=tuple(sorted(self.added)),
            updated=tuple(sorted(self.updated)),
            unchanged=tuple(sorted(self.unchanged)),
            moved=tuple(self.moved),
            gone=tuple(self.gone),
            dropped=tuple(self.dropped),
            problems=tuple(self.problems),
            agreeing=self.agreeing,
            disagreeing=tuple(sorted(self.disagreeing)),
            missing=dict(sorted(self.missing.items())),
            values=self.rows.values,
            nodes=self.rows.nodes,
            relationships=self.rows.relationships,
            bytes_read=self.bytes_read,
            seconds=seconds,
            dry_run=dry_run,
            stopped=self.has_stopped,
        )


class Meter:
    """A reporter of an ingest's progress."""

    def __init__(
        self, dumps: Sequence[DumpFiles], progress: Callable[[Progress], None] | None
    ) -> None:
        self._progress = progress
        self._bytes_total = sum(dump.size_bytes for dump in dumps)
        self._compilations_total = len(dumps)
        self._bytes_done = self._bytes_handed_over = self._compilations_done = 0
        self._bytes_shown = 0
        self._written_share = 1.0
        self._file = ""

    def begin(self) -> None:
        """Report how much there is to do."""
        self._report()

    def advance(self, dump: DumpFiles, *, is_handed_over: bool = False) -> None:
        """Count one dump as done, or as passed to the graph for writing."""
        if is_handed_over:
            self._bytes_handed_over += dump.size_bytes
        else:
            self._bytes_done += dump.size_bytes
        self._compilations_done += 1
        self._file = readable(dump.path)
        self._report()

    def set_written_share(self, share: float) -> None:
        """Set the share of the bytes passed to the graph that counts as done."""
        self._written_share = share
        if self._bytes_written() > self._bytes_shown:
            self._report()

    def _bytes_written(self) -> int:
        return self._bytes_done + int(self._bytes_handed_over * self._written_share)

    def _report(self) -> None:
        if self._progress is None:
            return
        # the number can fall when more is passed to the graph; a progress bar must not
        self._bytes_shown = max(self._bytes_shown, self._bytes_written())
        self._progress(
            Progress(
                self._bytes_shown,
                self._bytes_total,
                self._compilations_done,
                self._compilations_total,
                self._file,
            )
        )
