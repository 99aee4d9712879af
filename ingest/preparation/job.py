"""What is to be prepared, and its outcome: all that passes between processes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from xlagraph.graph.rows.row_files import RowFiles
from xlagraph.graph.schema_detail import Detail
from xlagraph.ingest.files.contents import FileStates
from xlagraph.ingest.files.discovery import DumpFiles
from xlagraph.ingest.problems.problem import Problem
from xlagraph.ingest.rows.counts import RowCounts

__all__ = ["Job", "Outcome", "Prepared", "batches_of_jobs"]


class Job(NamedTuple):
    """One compilation to prepare."""

    files: DumpFiles
    ingested_at: str
    tags: tuple[str, ...]
    unchanged_sha256: str | None = None
    """Digest with which it is left as the graph holds it; None if it is written in any case."""
    run_path: str | None = None
    """Of the folder that the run came from first; None if that is the dump's own."""
    detail: Detail = Detail.ALL
    """How much of it is stored; that of all jobs of an ingest."""
    problem: Problem | None = None
    """Why its files could not be fetched."""
    expected: FileStates | None = None
    """Files as they were when the dump was found complete. With them it is left out if they have
    changed, or if its total does not show that the text is whole; empty for remote files."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job: rows, in files with those of others, or only problems."""

    has_rows: bool = False
    is_unchanged: bool = False
    """It has the content that the graph holds."""
    problems: tuple[Problem, ...] = ()
    missing: tuple[str, ...] = ()
    """Parts that the dump does not have."""
    content_bytes: int = 0
    """Of all its files, unpacked."""
    total_bytes: int | None = None
    """As printed."""
    allocation_bytes: int = 0
    is_text: bool = False

    @property
    def totals_agree(self) -> bool:
        """Whether the total shows that a text is whole; True for protobuf, which prints none."""
        return not self.is_text or self.total_bytes == self.allocation_bytes


@dataclass(frozen=True, slots=True)
class Prepared:
    """The outcomes of some jobs, in their order, and the rows of those that have some."""

    outcomes: tuple[Outcome, ...]
    counts: RowCounts
    files: RowFiles | None = None
    """None where there are no rows, or nothing is to be written."""


def batches_of_jobs(jobs: Iterable[Job], most_bytes: int, most_jobs: int) -> Iterator[list[Job]]:
    """Split jobs into batches; the job that reaches a limit ends its batch."""
    batch: list[Job] = []
    size_bytes = 0
    for job in jobs:
        batch.append(job)
        size_bytes += job.files.size_bytes
        if size_bytes >= most_bytes or len(batch) >= most_jobs:
            yield batch
            batch = []
            size_bytes = 0
    if batch:
        yield batch
