"""Prepare many jobs in this process, or in several in parallel, each of which may die.

The processes write rows into files; their answers are small. The dump that kills a process is
named, and the others are prepared again.
"""

import pickle
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Semaphore
from typing import Final, cast

from xlagraph.graph.errors import GraphError
from xlagraph.ingest.errors import Problem, readable
from xlagraph.ingest.loading.fetching import Fetcher, fetched, fetched_batches
from xlagraph.ingest.loading.job import JobOutcome, PreparationJob, Prepared, batches_of_jobs
from xlagraph.ingest.loading.prepare import KnownContents, prepare
from xlagraph.ingest.rows.counts import RowCounts
from xlagraph.runtime.child_process import ChildEnded, ChildPool, ChildProcess

_PROGRAM: Final = "xlagraph.ingest.loading.prepare:prepared_batches"
_BATCH_BYTES: Final = 4 * 2**20
"""Size of the dumps that share files of rows: a file costs the engine about a millisecond."""
_LEAST_BATCH_BYTES: Final = 2**20
_LEAST_BATCH_DUMPS: Final = 100
_BATCHES_EACH: Final = 8
"""Batches for each process, if there are enough jobs, so that none is idle at the end."""
_AHEAD_BYTES: Final = 64 * 2**20
"""Size of the dumps prepared ahead, which limits the rows that wait on disk."""


def prepare_all(
    jobs: Sequence[PreparationJob],
    processes: int,
    folder: Path | None,
    *,
    one_by_one: bool = False,
    fetcher: Fetcher | None = None,
) -> Generator[Prepared, None, None]:
    """Prepare jobs in their order, small ones together; with several processes, in parallel.

    Rows are written below the folder, if there is one. Closing the iterator ends the processes.
    Remote files are fetched while other dumps are prepared.
    """
    shares = max(processes, 1) * _BATCHES_EACH
    share_bytes = sum(job.files.size_bytes for job in jobs) // shares
    most_bytes = min(max(share_bytes, _LEAST_BATCH_BYTES), _BATCH_BYTES)
    most_jobs = 1 if one_by_one else max(len(jobs) // shares, _LEAST_BATCH_DUMPS)
    batches = deque(batches_of_jobs(jobs, most_bytes, most_jobs))
    if processes <= 1:
        known = KnownContents()
        with closing(fetched_batches(batches, fetcher)) as ready:
            for batch in ready:
                yield prepare(batch, folder, known)
    else:
        yield from _side_by_side(batches, processes, folder, fetcher)


def _side_by_side(
    batches: deque[list[PreparationJob]],
    processes: int,
    folder: Path | None,
    fetcher: Fetcher | None,
) -> Generator[Prepared, None, None]:
    # quiet: a defect shows when this process prepares
    pool = ChildPool(partial(ChildProcess, _PROGRAM, is_quiet=True))
    size = min(processes, len(batches))
    places = Semaphore(size)

    def run(batch: Sequence[PreparationJob]) -> list[Prepared]:
        with fetched(batch, fetcher) as ready, places:
            return _prepared(pool, folder, ready)

    # with a fetcher, half of the threads fetch
    threads = ThreadPoolExecutor((size or 1) * (1 if fetcher is None else 2))
    waiting: deque[tuple[Future[list[Prepared]], int]] = deque()
    ahead_bytes = 0
    try:
        while batches or waiting:
            while batches and (len(waiting) <= size or ahead_bytes < _AHEAD_BYTES):
                batch = batches.popleft()
                size_bytes = sum(job.files.size_bytes for job in batch)
                waiting.append((threads.submit(run, batch), size_bytes))
                ahead_bytes += size_bytes
            future, size_bytes = waiting.popleft()
            yield from future.result()
            ahead_bytes -= size_bytes
    except BaseException:
        if fetcher is not None:
            fetcher.stop()
        raise
    finally:
        pool.stop()
        threads.shutdown(wait=True, cancel_futures=True)
        pool.close()


def _prepared(
    pool: ChildPool[ChildProcess], folder: Path | None, batch: Sequence[PreparationJob]
) -> list[Prepared]:
    """Prepare a batch in a process; a dump that kills it has a problem in its outcome.

    Raises `GraphError` if the rows could not be written.
    """
    child = pool.lend()
    try:
        answer = child.ask((folder, batch))
    except ChildEnded:
        pool.end(child)
        if len(batch) > 1:  # one of them killed the process
            return [prepared for job in batch for prepared in _prepared(pool, folder, [job])]
        message = "the process that read it died"
        problem = Problem(readable(batch[0].files.path), None, message)
        return [Prepared((JobOutcome(problems=(problem,)),), RowCounts())]
    pool.take_back(child)
    prepared = cast("Prepared | GraphError", pickle.loads(answer))  # noqa: S301  from our program
    if isinstance(prepared, GraphError):
        raise prepared
    return [prepared]
