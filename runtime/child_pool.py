"""A pool of child processes, each lent to one user at a time and kept for the next."""

from collections.abc import Callable
from signal import SIGKILL
from threading import Lock
from typing import Generic, TypeVar

from xlagraph.runtime.child_process import ChildEnded, ChildProcess

__all__ = ["ChildPool"]

Child = TypeVar("Child", bound=ChildProcess)


class ChildPool(Generic[Child]):
    """Children that are started when none is idle; whoever borrows limits how many there are."""

    def __init__(self, start: Callable[[], Child]) -> None:
        self._start = start
        self._idle: list[Child] = []
        self._lent: set[Child] = set()
        self._is_stopped = False
        self._lock = Lock()

    def lend(self) -> Child:
        """Return the child that was used last, or a new one; ChildEnded after a stop."""
        with self._lock:
            if self._is_stopped:
                raise ChildEnded(-SIGKILL)
            child = self._idle.pop() if self._idle else self._start()
            self._lent.add(child)
            return child

    def take_back(self, child: Child) -> None:
        """Keep a child for the next user."""
        with self._lock:
            self._lent.remove(child)
            self._idle.append(child)

    def end(self, child: Child) -> None:
        """Kill a lent child, and wait until its memory is free."""
        with self._lock:
            self._lent.remove(child)
        child.close()

    def stop(self) -> None:
        """Kill all children, even during a task, and lend no more."""
        with self._lock:
            self._is_stopped = True
            for child in (*self._idle, *self._lent):
                child.kill()

    def close(self) -> None:
        """Stop, and wait until the memory of all children is free; nobody uses one any longer."""
        self.stop()
        for child in (*self._idle, *self._lent):
            child.close()
