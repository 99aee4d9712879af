"""Progress and summary of an ingest."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from xlagraph.ingest.errors import Problem

__all__ = ["Disagreement", "IngestSummary", "Progress", "merged_summary"]


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
    """The allocation file that was finished most recently."""


@dataclass(frozen=True, slots=True)
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
