"""Dumps whose files are fetched shortly before they are prepared, and removed afterwards."""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Protocol

from xlagraph.ingest.files.contents import DumpContents, read_dump
from xlagraph.ingest.files.discovery import DumpFiles
from xlagraph.ingest.preparation.job import Job
from xlagraph.ingest.problems.errors import UnreadableDump
from xlagraph.ingest.problems.problem import Problem

__all__ = ["Fetcher", "fetched_batches", "reading"]


class Fetcher(Protocol):
    """Fetches the files of dumps; those that are there already are left alone."""

    def fetch(self, dumps: Sequence[DumpFiles]) -> Mapping[str, Problem]:
        """Fetch the files of dumps; return, by key, what is wrong with one that is not whole."""

    def release(self, dumps: Sequence[DumpFiles]) -> None:
        """Remove the files that were fetched."""

    def stop(self) -> None:
        """End what is under way soon."""


@contextmanager
def fetched(batch: Sequence[Job], fetcher: Fetcher | None) -> Iterator[list[Job]]:
    """Provide the files of some jobs; a job whose files could not be fetched has a problem."""
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
    batches: Sequence[list[Job]], fetcher: Fetcher | None
) -> Generator[list[Job], None, None]:
    """Yield batches whose files are there; the next is fetched while one is at work."""
    if fetcher is None:
        yield from batches
        return
    waiting = deque(batches)
    with ThreadPoolExecutor(1) as thread:

        def begin() -> "tuple[list[Job], Future[Mapping[str, Problem]]] | None":
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
    """Return `read_dump` for dumps that may have to be fetched first."""
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
