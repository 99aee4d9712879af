"""Prepare batches in another process, which reads them on stdin and answers on stdout.

The process writes rows into files; its answers are small. A pool of the standard library is not
used for two reasons: its start imports or copies the caller's main module, which a library must
not require, and when one of its processes dies it does not report the job. Here the dump that
kills a process is named, and the others are prepared again. A process ends when its caller ends.
"""

import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO, Final, cast

from xlagraph.graph.errors import GraphError
from xlagraph.ingest.loading.job import Job, Outcome, Prepared
from xlagraph.ingest.loading.prepare import KnownContents, prepare
from xlagraph.ingest.problem import Problem, readable
from xlagraph.ingest.rows.counts import RowCounts

__all__ = ["Worker", "prepare_batches"]

_SERVE: Final = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from xlagraph.runtime.imports import block_imports; block_imports(); "
    "from xlagraph.ingest.loading.worker import prepare_batches; "
    "prepare_batches()"
)


class Worker:
    """A process for one batch at a time, started when needed; rows are written to ``folder``."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._has_ended = False
        self._starting = Lock()

    def prepare(self, batch: Sequence[Job]) -> list[Prepared]:
        """Prepare a batch; a dump that kills the process has a problem in its outcome.

        Raises `GraphError` if the rows could not be written.
        """
        answer = self._ask(batch)
        if isinstance(answer, GraphError):
            raise answer
        if answer is not None:
            return [answer]
        if len(batch) > 1:  # one of them killed the process
            return [prepared for job in batch for prepared in self.prepare([job])]
        message = "the process that read it died"
        problem = Problem(readable(batch[0].files.path), None, message)
        return [Prepared((Outcome(problems=(problem,)),), RowCounts())]

    def end(self) -> None:
        """Kill the process, even during a batch."""
        with self._starting:
            self._has_ended = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """Close the pipes of the process, after it has ended and no thread uses them."""
        if self._process is not None:
            _close(self._process)
            self._process.wait()

    def _ask(self, batch: Sequence[Job]) -> Prepared | GraphError | None:
        """Return the answer of the process; None if it has died."""
        with self._starting:
            if self._has_ended:
                return Prepared((Outcome(),) * len(batch), RowCounts())
            process = self._process = self._process or _start_process(self._folder)
        try:
            pickle.dump(batch, _pipe(process.stdin))
            _pipe(process.stdin).flush()
            answer = pickle.load(_pipe(process.stdout))  # noqa: S301 - written by a process of this package
            return cast("Prepared | GraphError", answer)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._process = None
            _close(process)
            process.wait()
            return None


def _start_process(folder: Path | None) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(  # noqa: S603 - this interpreter, a fixed text
        [sys.executable, "-P", "-c", _SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # a defect shows when this process prepares
        start_new_session=True,  # Ctrl-C reaches only the caller, which then kills this process
    )
    for argument in (sys.path, folder):
        pickle.dump(argument, _pipe(process.stdin))
    return process


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise OSError("no pipe")
    return pipe


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # unwritten data of a process that died
            _pipe(pipe).close()


def prepare_batches() -> None:
    """Prepare batches from standard input until it ends."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    known = KnownContents()
    with suppress(EOFError, BrokenPipeError):
        folder = cast("Path | None", pickle.load(source))  # noqa: S301 - written by the caller
        while True:
            batch = cast("list[Job]", pickle.load(source))  # noqa: S301 - as above
            answer: Prepared | GraphError
            try:
                answer = prepare(batch, folder, known)
            except GraphError as error:
                answer = error
            pickle.dump(answer, target, protocol=pickle.HIGHEST_PROTOCOL)
            target.flush()
