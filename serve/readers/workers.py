"""Manages the processes that read the graph: a few for each lane, started on demand.

Every read is bounded in time and memory, because a process can be ended where a thread cannot.
Fast reads have separate processes, so that slow reads never delay them.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from xlagraph.graph import open_graph
from xlagraph.presentation.byte_sizes import human_bytes
from xlagraph.runtime.child_process import ChildEnded, ChildPool, ChildProcess
from xlagraph.serve.readers.jobs import Catalogue, Job, Lane, ReadAnswer, Setup
from xlagraph.serve.readers.service_limits import (
    GONE_SECONDS,
    MOST_LONG_SECONDS,
    MOST_MEMORY_BYTES,
    MOST_SECONDS,
    MOST_WAITING,
    WAITING_SECONDS,
)

PROCESSES: Final[Mapping[Lane, int]] = {Lane.LISTS: 2, Lane.QUERIES: 2, Lane.STATEMENTS: 2}
_NICENESS: Final[Mapping[Lane, int]] = {Lane.LISTS: 0, Lane.QUERIES: 0, Lane.STATEMENTS: 10}
_PROGRAM: Final = "xlagraph.serve.readers.reads:answers"
_START_SECONDS: Final = 60.0
"""Seconds to load the engine and open the graph on a busy machine."""

_BUSY: Final = "too many reads are running; try again in some seconds"
_ENDED: Final = "the process that read the graph ended; if this happens again, change the request"


class Workers:
    """Answers reads of one graph in processes that can be ended."""

    def __init__(
        self,
        location: str | Path | None,
        catalogue: Catalogue,
        *,
        ask_password: Callable[[str], str | None] | None = None,
        memory_bytes: int = MOST_MEMORY_BYTES,
    ) -> None:
        """Check that `open_graph` finds the graph; its errors are raised."""
        asked: list[str | None] = [None]

        def ask(user: str) -> str | None:
            asked[0] = None if ask_password is None else ask_password(user)
            return asked[0]

        with open_graph(location, ask_password=ask) as graph:
            self.location = graph.location
            """Location of the graph, for people; for a server, its URI and the database's name."""
        self.catalogue = catalogue
        named = None if location is None else str(location)
        self._lanes = {
            lane: _LaneProcesses(
                size, Setup(named, asked[0], catalogue, _NICENESS[lane]), memory_bytes
            )
            for lane, size in PROCESSES.items()
        }
        self._under_way: set[asyncio.Task[ReadAnswer]] = set()

    @property
    def version(self) -> tuple[int, ...] | None:
        """The identity of the graph file, which an ingest replaces; None for a server."""
        try:
            found = os.stat(self.location)  # noqa: PTH116 - a URI is not a path
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_mtime_ns

    def lane_counts(self, lane: Lane) -> "LaneCounts":
        """Return the live counts of a lane."""
        return self._lanes[lane].counts

    async def read(self, job: Job) -> ReadAnswer:
        """Return a job's answer.

        Whoever cancels this ends the read: most end by themselves within a moment, and what does
        not is ended with its process.
        """
        task = asyncio.create_task(self._lanes[job.lane].read(job, self.version))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(GONE_SECONDS, task.cancel)
            raise

    async def start(self) -> None:
        """Start a process in advance, so that the first request does not wait for it."""
        await self.read(Job("ready"))

    async def close(self) -> None:
        """End all processes at once."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        for lane in self._lanes.values():
            await lane.close()


@dataclass(slots=True)
class LaneCounts:
    """Counts of the reads of a lane."""

    waiting: int = 0
    reading: int = 0
    ended: int = 0
    """Processes that died or exceeded a limit."""


class _GraphProcess(ChildProcess):
    """A process with the graph open, for one job at a time."""

    def __init__(self) -> None:
        super().__init__(_PROGRAM)
        self.has_graph = False
        """True once it has answered that the graph is open."""
        self.version: tuple[int, ...] | None = None
        """Which file the graph was when the process opened it; None for a server."""

    async def answer(
        self, question: Job | Setup, *, most_seconds: float, most_bytes: int | None = None
    ) -> ReadAnswer:
        """Return the answer; the errors are those of `ask`."""
        answer = await asyncio.to_thread(
            self.ask, question, most_seconds=most_seconds, most_bytes=most_bytes
        )
        return ReadAnswer.decoded(answer)


class _LaneProcesses:
    """The processes of one lane."""

    def __init__(self, size: int, setup: Setup, memory_bytes: int) -> None:
        self._setup = setup
        self._memory_bytes = memory_bytes
        self._free = asyncio.Semaphore(size)
        self._pool = ChildPool(_GraphProcess)
        self.counts = LaneCounts()

    async def read(self, job: Job, version: tuple[int, ...] | None) -> ReadAnswer:
        if self.counts.waiting >= MOST_WAITING:
            return ReadAnswer.refusal(503, _BUSY)
        self.counts.waiting += 1
        try:
            async with asyncio.timeout(WAITING_SECONDS):
                await self._free.acquire()
        except TimeoutError:
            return ReadAnswer.refusal(503, _BUSY)
        finally:
            self.counts.waiting -= 1
        try:
            return await self._read(job, version)
        finally:
            self._free.release()

    async def _read(self, job: Job, version: tuple[int, ...] | None) -> ReadAnswer:
        try:
            worker = await self._open_worker(version)
        except (OSError, TimeoutError, ChildEnded) as error:
            return ReadAnswer.refusal(503, f"no process can be started: {error}")
        if isinstance(worker, ReadAnswer):
            return worker
        self.counts.reading += 1
        has_answered = False
        seconds = MOST_LONG_SECONDS if job.is_long else MOST_SECONDS
        try:
            answer = await worker.answer(job, most_seconds=seconds, most_bytes=self._memory_bytes)
            has_answered = True
        except TimeoutError:
            answer = ReadAnswer.refusal(400, f"the read took longer than {seconds:.0f} s")
        except MemoryError:
            answer = ReadAnswer.refusal(
                400,
                f"the read needs more than {human_bytes(self._memory_bytes)} of memory;"
                " request less at once",
            )
        except ChildEnded:
            answer = ReadAnswer.refusal(503, _ENDED)
        finally:
            self.counts.reading -= 1
            if has_answered:
                self._pool.take_back(worker)
            else:
                self.counts.ended += 1
                await self._end(worker)
        return answer

    async def _open_worker(self, version: tuple[int, ...] | None) -> _GraphProcess | ReadAnswer:
        """Return a process that has the newest state of the graph open; else why there is none."""
        while (worker := self._pool.lend()).has_graph:
            # what the engine took for the read before, it keeps; one that died has nothing
            has_room = 0 < worker.memory_bytes() <= self._memory_bytes * 3 // 4
            if worker.version == version and has_room:
                return worker
            await self._end(worker)
        worker.version = version
        try:
            opened = await worker.answer(self._setup, most_seconds=_START_SECONDS)
            worker.has_graph = not opened.is_refusal
            return worker if worker.has_graph else opened
        finally:
            if not worker.has_graph:
                await self._end(worker)

    async def _end(self, worker: _GraphProcess) -> None:
        worker.kill()  # before a thread is free to wait for its end
        await asyncio.to_thread(self._pool.end, worker)

    async def close(self) -> None:
        self._pool.stop()
        await asyncio.to_thread(self._pool.close)
