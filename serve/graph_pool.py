"""Graphs that are open for reading, each lent to one request at a time."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from queue import LifoQueue
from typing import Final, NamedTuple

from xlagraph.graph import Graph, open_graph

__all__ = ["GraphPool"]

SIZE: Final = 4
"""Requests that read at once; more of them wait."""


class _Open(NamedTuple):
    graph: Graph
    version: tuple[int, ...] | None
    """Which file it is: an ingest puts another in its place."""


class GraphPool:
    """Opens a graph once for each concurrent request, and again after each ingest."""

    def __init__(
        self,
        location: str | Path | None,
        ask_password: Callable[[str], str | None] | None = None,
    ) -> None:
        """Open the graph that `open_graph` finds, which raises if there is none."""
        self._ask_password = None if ask_password is None else cache(ask_password)
        self._asked_for = location
        graph = self._open()
        self.location = graph.location
        """Where the graph is, for people: of a server, its URI and the database's name."""
        self._slots: LifoQueue[_Open | None] = LifoQueue()
        for _ in range(SIZE - 1):
            self._slots.put(None)
        self._slots.put(_Open(graph, self._version()))

    @contextmanager
    def borrow(self) -> Iterator[Graph]:
        """Yield a graph that shows the newest state; waits while all are lent."""
        slot = self._slots.get()
        try:
            version = self._version()
            if slot is not None and slot.version != version:
                slot.graph.close()
                slot = None
            if slot is None:
                slot = _Open(self._open(), version)
            yield slot.graph
        finally:
            self._slots.put(slot)

    def close(self) -> None:
        """Close what is not lent."""
        while not self._slots.empty():
            slot = self._slots.get_nowait()
            if slot is not None:
                slot.graph.close()

    def _open(self) -> Graph:
        return open_graph(self._asked_for, ask_password=self._ask_password)

    def _version(self) -> tuple[int, ...] | None:
        try:
            found = os.stat(self.location)  # noqa: PTH116 - a URI is not a path, and has no version
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_mtime_ns
