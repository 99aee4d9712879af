"""A pool lends each child to one user at a time, keeps it for the next, and ends all at a stop."""

import threading
from contextlib import closing

import pytest

from tests.runtime.test_child_process import TEXTS
from xlagraph.runtime.child_pool import ChildPool
from xlagraph.runtime.child_process import ChildEnded, ChildProcess


def start() -> ChildProcess:
    return ChildProcess(TEXTS, is_quiet=True)


def test_a_child_that_was_taken_back_is_lent_again_and_one_that_ended_is_not() -> None:
    with closing(ChildPool(start)) as pool:
        first = pool.lend()
        assert first.ask("one") == b"ONE"
        pool.take_back(first)
        assert pool.lend() is first
        pool.end(first)
        other = pool.lend()
        assert other is not first
        assert other.ask("two") == b"TWO"


def test_a_stop_ends_a_task_and_no_child_is_lent_after_it() -> None:
    with closing(ChildPool(start)) as pool:
        child = pool.lend()
        threading.Timer(0.3, pool.stop).start()
        with pytest.raises(ChildEnded, match="Killed"):
            child.ask("sleep")
        with pytest.raises(ChildEnded, match="Killed"):
            pool.lend()
