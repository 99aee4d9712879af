"""Prepare batches in another process, which may die.

The process writes rows into files; its answers are small. The dump that kills a process is named,
and the others are prepared again.
"""

import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Final, cast

from xlagraph.graph.errors import GraphError
from xlagraph.ingest.errors import Problem, readable
from xlagraph.ingest.loading.job import JobOutcome, PreparationJob, Prepared
from xlagraph.ingest.loading.prepare import KnownContents, prepare
from xlagraph.ingest.rows.counts import RowCounts
from xlagraph.runtime.child_process import ChildEnded, ChildProcess

__all__ = ["Worker", "prepared_batches"]

_PROGRAM: Final = "xlagraph.ingest.loading.worker:prepared_batches"


class Worker:
    """A process for one batch at a time, started when needed; rows are written to ``folder``."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._child: ChildProcess | None = None
        self._has_ended = False
        self._starting = Lock()

    def prepare(self, batch: Sequence[PreparationJob]) -> list[Prepared]:
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
        return [Prepared((JobOutcome(problems=(problem,)),), RowCounts())]

    def end(self) -> None:
        """Kill the process, even during a batch."""
        with self._starting:
            self._has_ended = True
            if self._child is not None:
                self._child.kill()

    def close(self) -> None:
        """Free the process, after it has ended and no thread uses it."""
        if self._child is not None:
            self._child.close()

    def _ask(self, batch: Sequence[PreparationJob]) -> Prepared | GraphError | None:
        """Return the process's answer; None if it has died."""
        with self._starting:
            if self._has_ended:
                return Prepared((JobOutcome(),) * len(batch), RowCounts())
            # quiet: a defect shows when this process prepares
            child = self._child = self._child or ChildProcess(_PROGRAM, is_quiet=True)
        try:
            answer = child.ask((self._folder, batch))
        except ChildEnded:
            self._child = None
            child.close()
            return None
        return cast("Prepared | GraphError", pickle.loads(answer))  # noqa: S301  from our program


def prepared_batches(tasks: Iterator[tuple[Path | None, list[PreparationJob]]]) -> Iterator[bytes]:
    """Yield the pickled result or error of each batch, whose rows are written to its folder."""
    known = KnownContents()
    for folder, batch in tasks:
        answer: Prepared | GraphError
        try:
            answer = prepare(batch, folder, known)
        except GraphError as error:
            answer = error
        yield pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)
