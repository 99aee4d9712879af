"""What an ingest did, what it left out, and how far it is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from xlagraph.ingest.problems.problem import Problem

__all__ = ["Disagreement", "IngestSummary", "Progress", "merged_summary"]


class Disagreement(NamedTuple):
    """A compilation whose allocations do not add up to what XLA prints."""

    compilation: str
    total_bytes: int
    allocation_bytes: int


class Progress(NamedTuple):
    """How far an ingest is; sizes as the files lie on disk.

    While a server writes, bytes count as done in the share that it has written.
    """

    bytes_done: int
    bytes_total: int
    compilations_done: int
    compilations_total: int
    file: str
    """The allocation file that was finished last."""


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """What one ingest did. Compilations are keys, in the order of runs and keys."""

    runs: tuple[str, ...]
    """Runs of which the graph now holds a compilation."""
    added: tuple[str, ...]
    updated: tuple[str, ...]
    """Same key, other content or folder: replaced."""
    unchanged: tuple[str, ...]
    """Same content: not touched."""
    moved: tuple[str, ...]
    """Removed, as their dump has another key now: it is among the others."""
    gone: tuple[str, ...]
    """In the graph though their files are gone."""
    dropped: tuple[str, ...]
    """Removed because their files are gone, as the caller asked."""
    problems: tuple[Problem, ...]
    agreeing: int
    """Compilations whose allocations add up to ``Total bytes used``, unchanged ones too."""
    disagreeing: tuple[Disagreement, ...]
    missing: Mapping[str, tuple[str, ...]]
    """Parts that a dump does not have, by compilation; unchanged ones are not parsed."""
    values: int
    """In the compilations that were added or updated; so are the next two."""
    nodes: int
    """Of all labels; what compilations share is counted once."""
    relationships: int
    bytes_read: int
    """Of the compilations that were added, updated or unchanged, as their files lie on disk."""
    seconds: float
    dry_run: bool = False
    """Nothing was written: the rest says what would have been."""
    stopped: bool = False
    """Stopped at the first problem, as asked: the rest was not looked at."""

    @property
    def ok(self) -> bool:
        """Whether there was something to ingest, nothing was left out and totals agree."""
        found = self.added or self.updated or self.unchanged
        return bool(found) and not self.disagreeing and not any(p.left_out for p in self.problems)


def merged_summary(
    summaries: Iterable[IngestSummary], problems: Iterable[Problem], seconds: float
) -> IngestSummary:
    """Sum up ingests of different dumps side by side, and problems found before them."""
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
