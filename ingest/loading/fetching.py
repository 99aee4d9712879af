"""Fetch the files of dumps shortly before they are prepared, and remove them afterwards."""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Protocol

from xlagraph.ingest.errors import Problem, UnreadableDump
from xlagraph.ingest.files.contents import DumpContents, read_dump
from xlagraph.ingest.files.dump_files import DumpFiles
from xlagraph.ingest.loading.job import PreparationJob


class Fetcher(Protocol):
    """A source that fetches the files of dumps; local files are unchanged."""

    def fetch(self, dumps: Sequence[DumpFiles]) -> Mapping[str, Problem]:
        """Fetch the files of dumps; return, by key, the problems of dumps that are incomplete."""

    def release(self, dumps: Sequence[DumpFiles]) -> None:
        """Remove the fetched files of dumps."""

    def stop(self) -> None:
        """Stop fetching soon."""


@contextmanager
def fetched(
    batch: Sequence[PreparationJob], fetcher: Fetcher | None
) -> Iterator[list[PreparationJob]]:
    """Provide jobs with their files fetched; a job has a problem if that failed."""
    if fetcher is None:
        yield list(batch)
        return
    dumps = [job.files for job in batch]
    try:
        problems = fetcher.fetch(dumps)
        yield [job._replace(problem=problems.get(job.files.key)) for job in batch]
    finally:
        fetcher.release(dumps)


def fetched_batches(
    batches: Sequence[list[PreparationJob]], fetcher: Fetcher | None
) -> Generator[list[PreparationJob], None, None]:
    """Yield batches with their files fetched; the next is fetched while one is prepared."""
    if fetcher is None:
        yield from batches
        return
    waiting = deque(batches)
    with ThreadPoolExecutor(1) as thread:

        def begin() -> "tuple[list[PreparationJob], Future[Mapping[str, Problem]]] | None":
            if not waiting:
                return None
            batch = waiting.popleft()
            return batch, thread.submit(fetcher.fetch, [job.files for job in batch])

        coming = begin()
        try:
            while coming is not None:
                batch, future = coming
                problems = future.result()
                coming = begin()
                yield [job._replace(problem=problems.get(job.files.key)) for job in batch]
                fetcher.release([job.files for job in batch])
        except BaseException:
            fetcher.stop()
            raise


def reading(fetcher: Fetcher | None) -> Callable[[DumpFiles], DumpContents]:
    """Return a `read_dump` that first fetches a dump's files, if there is a fetcher."""
    if fetcher is None:
        return read_dump

    def read(dump: DumpFiles) -> DumpContents:
        try:
            for problem in fetcher.fetch([dump]).values():
                raise UnreadableDump(problem)
            return read_dump(dump)
        finally:
            fetcher.release([dump])

    return read
