"""Count the results of an ingest while it runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xlagraph.graph.engine import CompilationDigest
from xlagraph.ingest.errors import Problem, readable
from xlagraph.ingest.files.dump_files import DumpFiles
from xlagraph.ingest.loading.job import JobOutcome
from xlagraph.ingest.loading.summary import Disagreement, IngestSummary, Progress
from xlagraph.ingest.rows.counts import RowCounts

__all__ = ["Meter", "Tally"]


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
