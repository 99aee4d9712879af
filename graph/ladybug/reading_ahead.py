"""Runs statements in a thread before they are asked, so that a second core reads the graph.

The engine and pyarrow leave Python to other threads for most of the time.
"""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Final

import ladybug

from xlagraph.graph.engine import Cell
from xlagraph.graph.ladybug.result_rows import Table, read_table

Given = dict[str, Cell]
_INTERRUPT_SECONDS: Final = 0.05
"""Seconds after which an interrupt is repeated; one that comes before a statement runs is lost."""


class ReadingAhead:
    """Statements that a thread runs one after another, on a connection of its own."""

    def __init__(self, database: ladybug.Database) -> None:
        self._connection = ladybug.Connection(database, num_threads=1)
        self._thread = ThreadPoolExecutor(1)
        self._waiting: list[tuple[str, Given, Future[Table]]] = []
        """Statements that the thread takes, the last first."""
        self._tables: dict[str, Future[Table]] = {}
        self._runs: list[Future[None]] = []

    def begin(self, statements: Iterable[tuple[str, Given]]) -> list[str]:
        """Begin with statements, before those begun earlier; return names to give to `forget`."""
        begun: dict[str, tuple[str, Given, Future[Table]]] = {}
        for text, given in statements:
            if (question := _question(text, given)) not in self._tables:
                begun[question] = text, given, Future()
        self._tables |= {question: table for question, (*_, table) in begun.items()}
        self._waiting += reversed(begun.values())
        self._runs = [each for each in self._runs if not each.done()]
        self._runs += [self._thread.submit(self._run_next) for _ in begun]
        return list(begun)

    def _run_next(self) -> None:
        text, given, table = self._waiting.pop()
        if table.set_running_or_notify_cancel():
            try:
                table.set_result(read_table(self._connection, text, given))
            except Exception as error:  # noqa: BLE001  `take` drops it
                table.set_exception(error)

    def take(self, text: str, given: Given) -> Table | None:
        """Return the table of a statement that the thread has begun, and wait for it.

        None for others, and if it failed: the caller runs it and finds out why.
        """
        table = self._tables.pop(_question(text, given), None)
        if table is None or table.cancel() or table.exception() is not None:
            return None
        return table.result()

    def forget(self, begun: Iterable[str]) -> None:
        """Drop statements that nobody has asked."""
        for question in begun:
            if (table := self._tables.pop(question, None)) is not None:
                table.cancel()

    def close(self) -> None:
        """End the thread; the statement that it runs is interrupted."""
        for each in self._runs:
            each.cancel()
        while wait(self._runs, _INTERRUPT_SECONDS).not_done:
            self._connection.interrupt()
        self._thread.shutdown()
        self._connection.close()


def _question(text: str, given: Given) -> str:
    return f"{text}{sorted(given.items())!r}"
