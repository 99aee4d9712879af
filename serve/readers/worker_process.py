"""The service's handle of one process that reads the graph."""

import asyncio
from typing import Final, Self

import psutil

from xlagraph.runtime.child_process import ChildProcess
from xlagraph.serve.readers.jobs import Answer, Job, Setup

__all__ = ["WorkerProcess"]

_PROGRAM: Final = "xlagraph.serve.readers.worker_program:answers"
_START_SECONDS: Final = 60.0
"""Seconds to load the engine and open the graph on a busy machine."""


class WorkerProcess:
    """A process with the graph open, for one job at a time."""

    def __init__(self, version: "tuple[int, ...] | None") -> None:
        self._child = ChildProcess(_PROGRAM)
        self._watched = psutil.Process(self._child.pid)
        self.version = version
        """Which file the graph was when the process opened it; None for a server."""

    @classmethod
    async def start(cls, setup: Setup, version: "tuple[int, ...] | None") -> Self | Answer:
        """Start a process; return a refusal instead if it cannot open the graph."""
        worker = cls(version)
        try:
            async with asyncio.timeout(_START_SECONDS):
                opened = await worker.ask(setup)
        except BaseException:
            await worker.end()
            raise
        if opened.is_refusal:
            await worker.end()
            return opened
        return worker

    async def ask(self, question: Job | Setup) -> Answer:
        """Return the answer; ChildEnded if the process ends before."""
        return Answer.decoded(await asyncio.to_thread(self._child.ask, question))

    def memory_bytes(self) -> int:
        """Return the memory that the process has now; 0 once it has ended."""
        try:
            return self._watched.memory_info().rss
        except psutil.NoSuchProcess:
            return 0

    async def end(self) -> None:
        """End the process at once, and wait until its memory is free."""
        self._child.kill()  # before a thread is free to wait for its end
        await asyncio.to_thread(self._child.close)
