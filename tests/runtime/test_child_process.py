"""A child process answers tasks; its death is an error, and it ends with its caller or its pool."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import psutil
import pytest

from xlagraph.runtime.child_process import ChildEnded, ChildPool, ChildProcess

PATIENCE_SECONDS = 60
TEXTS = f"{__name__}:upper_texts"


def upper_texts(tasks: Iterator[str]) -> Iterator[bytes]:
    """Answer texts in capitals; some end the process or take long."""
    for text in tasks:
        if text == "fail":
            raise ValueError(text)
        if text == "abort":
            os.abort()
        if text == "sleep":
            time.sleep(PATIENCE_SECONDS)
        if text == "grow":
            filled = b"x" * (256 << 20)
            time.sleep(PATIENCE_SECONDS)
            del filled
        os.write(1, b"an engine prints this")
        yield text.upper().encode()


@pytest.fixture
def child() -> Iterator[ChildProcess]:
    with closing(ChildProcess(TEXTS, is_quiet=True)) as child:
        yield child


def test_tasks_are_answered_one_after_another(child: ChildProcess) -> None:
    large = "x" * 10_000_000
    assert [child.ask(text) for text in ("one", "", large)] == [b"ONE", b"", b"X" * len(large)]


@pytest.mark.parametrize(("task", "message"), [("fail", "exit code 1"), ("abort", "Aborted")])
def test_the_death_of_a_child_is_an_error_with_its_reason(
    child: ChildProcess, task: str, message: str
) -> None:
    for text in (task, "next"):
        with pytest.raises(ChildEnded, match=message):
            child.ask(text)


def test_a_child_is_killed_during_a_task(child: ChildProcess) -> None:
    threading.Timer(0.5, child.kill).start()
    with pytest.raises(ChildEnded, match="Killed"):
        child.ask("sleep")


def test_a_task_beyond_a_limit_of_time_or_memory_is_an_error(child: ChildProcess) -> None:
    most_bytes = 200 << 20
    assert child.ask("one", most_seconds=PATIENCE_SECONDS, most_bytes=most_bytes) == b"ONE"
    with pytest.raises(MemoryError):
        child.ask("grow", most_seconds=PATIENCE_SECONDS, most_bytes=most_bytes)
    child.close()
    assert child.memory_bytes() == 0
    with closing(start_quietly()) as other, pytest.raises(TimeoutError, match="no answer in 1 s"):
        other.ask("sleep", most_seconds=1)


CALLER = f"""
import sys
from xlagraph.runtime.child_process import ChildProcess
child = ChildProcess({TEXTS!r})
print(child.pid, flush=True)
child.ask("sleep")
"""


def test_a_child_ends_with_its_caller_even_during_a_task() -> None:
    path = os.pathsep.join(sys.path)
    with subprocess.Popen(
        [sys.executable, "-c", CALLER],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    ) as caller:
        assert caller.stdout is not None
        child = psutil.Process(int(caller.stdout.readline()))
        caller.kill()
    child.wait(PATIENCE_SECONDS)


def start_quietly() -> ChildProcess:
    return ChildProcess(TEXTS, is_quiet=True)


def test_a_child_that_was_taken_back_is_lent_again_and_one_that_ended_is_not() -> None:
    with closing(ChildPool(start_quietly)) as pool:
        first = pool.lend()
        assert first.ask("one") == b"ONE"
        pool.take_back(first)
        assert pool.lend() is first
        pool.end(first)
        other = pool.lend()
        assert other is not first
        assert other.ask("two") == b"TWO"


def test_a_stop_ends_a_task_and_no_child_is_lent_after_it() -> None:
    with closing(ChildPool(start_quietly)) as pool:
        child = pool.lend()
        threading.Timer(0.3, pool.stop).start()
        with pytest.raises(ChildEnded, match="Killed"):
            child.ask("sleep")
        with pytest.raises(ChildEnded, match="Killed"):
            pool.lend()
