"""Child processes of this Python, which answer one task after another and may die.

Tasks are pickled. An answer is bytes, sent after their number, and only the caller of the child
decides whether to unpickle them: a user's statement may have broken into the process that ran it.

A pool of the standard library is not used. Its start imports or copies the caller's main module,
which a library must not require, and when one of its processes dies it does not report the task.
"""

import os
import pickle
import resource
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from queue import SimpleQueue
from threading import Lock, Thread
from typing import IO, Final, Generic, TypeVar, cast

from xlagraph.runtime.imports import block_imports

_START: Final = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from xlagraph.runtime.child_process import run_program; run_program(sys.argv[1])"
)
_LENGTH_BYTES: Final = 8
_LOOK_SECONDS: Final = 0.05
"""Seconds between two checks of a child's memory; it can grow by about 100 MB meanwhile."""


class ChildEnded(Exception):
    """The child ended before it answered; the message is its signal or exit code."""

    def __init__(self, exit_code: int) -> None:
        name = signal.strsignal(-exit_code) if exit_code < 0 else None
        super().__init__(name or f"exit code {exit_code}")


class ChildProcess:
    """A child that runs a program: a generator function that takes tasks and yields answers.

    The child ends when its caller ends or closes it, even during a task. Ctrl-C on a terminal
    reaches only the caller.
    """

    def __init__(self, program: str, *, is_quiet: bool = False) -> None:
        """Start a program, given as ``module:function``; if quiet, drop what it prints."""
        # -P: no module of the current folder replaces one of Python's
        self._process = subprocess.Popen(  # noqa: S603  this interpreter, a program of ours
            [sys.executable, "-P", "-c", _START, program, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if is_quiet else None,
            start_new_session=True,
        )
        self._tasks = cast("IO[bytes]", self._process.stdin)
        self._answers = cast("IO[bytes]", self._process.stdout)

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    def memory_bytes(self) -> int:
        """Return the memory that the child has now; 0 once it has ended."""
        import psutil  # only children with a limit of memory need it

        try:
            return psutil.Process(self.pid).memory_info().rss
        except psutil.NoSuchProcess:
            return 0

    def ask(
        self, task: object, *, most_seconds: float | None = None, most_bytes: int | None = None
    ) -> bytes:
        """Return the answer to a task; ChildEnded if the child ends before. One at a time.

        Raises TimeoutError or MemoryError once the task has taken more than a limit; the child is
        still busy with it and must be closed.
        """
        try:
            self._tasks.write(pickle.dumps(task))
            self._tasks.flush()
            if most_seconds is not None or most_bytes is not None:
                self._wait(most_seconds, most_bytes)
            length = int.from_bytes(self._read(_LENGTH_BYTES), "big")
            return self._read(length)
        except TimeoutError:
            raise
        except (OSError, EOFError) as error:
            self.kill()
            raise ChildEnded(self._process.wait()) from error

    def kill(self) -> None:
        """End the child at once; a thread that waits for its answer gets ChildEnded."""
        self._process.kill()

    def close(self) -> None:
        """Kill the child, and wait until its memory is free."""
        self.kill()
        for pipe in (self._tasks, self._answers):
            with suppress(OSError):  # a task that the child did not read
                pipe.close()
        self._process.wait()

    def _wait(self, most_seconds: float | None, most_bytes: int | None) -> None:
        """Wait until the child answers or ends."""
        end = None if most_seconds is None else time.monotonic() + most_seconds
        answers = select.poll()
        answers.register(self._answers, select.POLLIN)
        while not answers.poll(1000 * _LOOK_SECONDS):
            if end is not None and time.monotonic() > end:
                raise TimeoutError(f"no answer in {most_seconds:.0f} s")
            if most_bytes is not None and self.memory_bytes() > most_bytes:
                raise MemoryError

    def _read(self, size_bytes: int) -> bytes:
        data = self._answers.read(size_bytes)
        if len(data) < size_bytes:
            raise EOFError
        return data


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
                raise ChildEnded(-signal.SIGKILL)
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


def run_program(program: str) -> None:
    """Run a program in this process, which a `ChildProcess` started, and end the process."""
    block_imports()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # what an engine prints must not get between the answers
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, _, name = program.partition(":")

    def answer() -> None:
        answers = cast(
            "Callable[[Iterator[object]], Iterable[bytes]]", getattr(import_module(module), name)
        )
        for data in answers(_received_tasks()):
            target.write(len(data).to_bytes(_LENGTH_BYTES, "big"))
            target.write(data)
            target.flush()

    _run_and_exit(answer)


def _received_tasks() -> Iterator[object]:
    tasks: SimpleQueue[object] = SimpleQueue()

    def receive() -> None:
        while True:
            tasks.put(pickle.load(sys.stdin.buffer))  # noqa: S301  from who started this process

    # a thread, so that the caller's end is noticed during a task
    Thread(target=_run_and_exit, args=(receive,), daemon=True).start()
    while True:
        yield tasks.get()


def _run_and_exit(work: Callable[[], None]) -> None:
    """Run a part of this process and end the process after it.

    The pipes close together with the process, so that its caller finds the exit code.
    """
    exit_code = 1
    try:
        work()
        exit_code = 0
    except (EOFError, BrokenPipeError):  # the caller has ended
        pass
    except BaseException:  # noqa: BLE001  the border of this process
        traceback.print_exc()
    finally:
        os._exit(exit_code)
