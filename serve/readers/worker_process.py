"""The service's handle of one process that reads the graph."""

import asyncio
import json
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from typing import Final, Self

import psutil

from xlagraph.serve.readers.jobs import LENGTH_BYTES, Answer, Job, Setup

__all__ = ["WorkerEnded", "WorkerProcess"]

_START_SECONDS: Final = 60.0
"""Seconds to load the engine and open the graph on a busy machine."""


class WorkerEnded(Exception):
    """The process ended before it answered."""


class WorkerProcess:
    """A process with the graph open, for one job at a time."""

    def __init__(self, process: Process, version: "tuple[int, ...] | None") -> None:
        self._process = process
        self._watched = psutil.Process(process.pid)
        self.version = version
        """Which file the graph was when the process opened it; None for a server."""

    @classmethod
    async def start(cls, setup: Setup, version: "tuple[int, ...] | None") -> Self | Answer:
        """Start a process; return a refusal instead if it cannot open the graph."""
        process = await asyncio.create_subprocess_exec(
            # -P: no module of the current folder replaces one of Python's
            *(sys.executable, "-P", "-m", "xlagraph.serve.readers.worker_program"),
            stdin=PIPE,
            stdout=PIPE,
            start_new_session=True,  # Ctrl-C on a terminal is for the service
        )
        worker = cls(process, version)
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
        """Return the answer; WorkerEnded if the process ends before."""
        to, back = self._process.stdin, self._process.stdout
        assert to is not None  # noqa: S101  both are pipes
        assert back is not None  # noqa: S101
        try:
            to.write(pickle.dumps(question))
            await to.drain()
            length = int.from_bytes(await back.readexactly(LENGTH_BYTES), "big")
            header = json.loads(await back.readexactly(length))
            body = await back.readexactly(header["size"])
        except (OSError, asyncio.IncompleteReadError) as error:
            raise WorkerEnded(
                "the process that read the graph ended; if this happens again, change the request"
            ) from error
        return Answer(header["status"], body, tuple(header["notes"]))

    def memory_bytes(self) -> int:
        """Return the memory that the process has now; 0 once it has ended."""
        try:
            return self._watched.memory_info().rss
        except psutil.NoSuchProcess:
            return 0

    async def end(self) -> None:
        """End the process at once, and wait until its memory is free."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
