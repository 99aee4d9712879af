"""Runs statements in a thread before they are asked, so that a second core reads the graph.

The engine and pyarrow leave Python to other threads for most of the time.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor

import ladybug

from xlagraph.graph.engine import Cell

__all__ = ["ReadingAhead", "Table"]

Table = tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]
"""Columns and rows of a result."""
Given = dict[str, Cell]


class ReadingAhead:
    """Statements that a thread runs one after another, on a connection of its own."""

    def __init__(
        self,
        database: ladybug.Database,
        read: Callable[[ladybug.Connection, str, Given], Table],
    ) -> None:
        self._connection = ladybug.Connection(database, num_threads=1)
        self._read = read
        self._thread = ThreadPoolExecutor(1)
        self._tables: dict[str, Future[Table]] = {}

    def begin(self, statements: Iterable[tuple[str, Given]]) -> list[str]:
        """Begin with statements; return names to give to `forget`."""
        questions = {_question(*each): each for each in statements}
        begun = [each for each in questions if each not in self._tables]
        for each in begun:
            arguments = self._connection, *questions[each]
            self._tables[each] = self._thread.submit(self._read, *arguments)
        return begun

    def take(self, text: str, given: Given) -> Table | None:
        """Return the table of a statement that is begun, and wait for it; None for others.

        None also if it failed: the caller runs it again and finds out why.
        """
        table = self._tables.pop(_question(text, given), None)
        if table is None or table.cancel() or table.exception() is not None:
            return None
        return table.result()

    def forget(self, begun: Iterable[str]) -> None:
        """Drop statements that nobody has asked."""
        for each in begun:
            if (table := self._tables.pop(each, None)) is not None:
                table.cancel()

    def close(self) -> None:
        """End the thread after the statement that it runs, which is interrupted."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._connection.interrupt()
        self._thread.shutdown()
        self._connection.close()


def _question(text: str, given: Given) -> str:
    return f"{text}{sorted(given.items())!r}"
