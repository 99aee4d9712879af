"""The jobs and outcomes of a preparation, which processes exchange."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from xlagraph.graph.row_files import RowFiles
from xlagraph.graph.schema import Detail
from xlagraph.ingest.errors import Problem
from xlagraph.ingest.files.contents import FileStates
from xlagraph.ingest.files.dump_files import DumpFiles
from xlagraph.ingest.rows.counts import RowCounts


class PreparationJob(NamedTuple):
    """One compilation to prepare."""

    files: DumpFiles
    ingested_at: str
    tags: tuple[str, ...]
    unchanged_sha256: str | None = None
    """Digest with which the dump is skipped as unchanged; None to write it in any case."""
    run_path: str | None = None
    """Path of the first folder of the run; None if it is the dump's folder."""
    detail: Detail = Detail.ALL
    """Level of detail that is stored, the same for all jobs of an ingest."""
    problem: Problem | None = None
    """The reason why its files could not be fetched; None if they were."""
    expected: FileStates | None = None
    """File states when the dump was found complete; empty for remote files. If given, the dump is
    skipped if its files have changed, or if its allocations do not add up to its total."""
    categories: tuple[tuple[str, str], ...] = ()
    """The user's categories: pairs of a category and a pattern of names."""
    snapshots: tuple[str, ...] = ()
    """Snapshots of the run that are stored already."""


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """A job's result: rows, in files shared with other jobs, or only problems."""

    has_rows: bool = False
    is_unchanged: bool = False
    """True if the content is the stored one."""
    problems: tuple[Problem, ...] = ()
    missing: tuple[str, ...] = ()
    """Names of the parts missing from the dump."""
    content_bytes: int = 0
    """Size of all files of the dump, unpacked."""
    total_bytes: int | None = None
    """Total that XLA prints; None if it prints none."""
    allocation_bytes: int = 0
    """Sum of the sizes of all allocations."""
    is_text: bool = False

    @property
    def totals_agree(self) -> bool:
        """True if the allocations of a text add up to its total, and for protobuf without total."""
        return not self.is_text or self.total_bytes == self.allocation_bytes


@dataclass(frozen=True, slots=True)
class Prepared:
    """The outcomes of some jobs, in their order, with the rows of all."""

    outcomes: tuple[JobOutcome, ...]
    counts: RowCounts
    files: RowFiles | None = None
    """Files of the rows; None if there are no rows, or if nothing is written."""


def batches_of_jobs(
    jobs: Iterable[PreparationJob], most_bytes: int, most_jobs: int
) -> Iterator[list[PreparationJob]]:
    """Split jobs into batches; a job that reaches a limit is the last of its batch."""
    batch: list[PreparationJob] = []
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
