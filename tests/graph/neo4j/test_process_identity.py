"""The process that began a load is known to run or to have ended."""

import subprocess
import sys
from pathlib import Path

import pytest

from xlagraph.runtime.process_identity import PROCESSES, has_ended, this_process

NAME = "from xlagraph.runtime.process_identity import this_process; print(this_process())"


@pytest.fixture(params=["shown", "hidden"])
def processes(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the folder in which the system lists processes, or an empty one that hides them."""
    return PROCESSES if request.param == "shown" else tmp_path


def test_a_process_that_runs_has_not_ended(processes):
    assert not has_ended(this_process(), processes)


def test_a_process_that_ended_is_recognized_by_its_name(processes):
    name = subprocess.run(
        [sys.executable, "-c", NAME], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert has_ended(name, processes)


def test_a_process_number_that_was_reused_does_not_mean_that_it_runs():
    machine, number, started = this_process().split(" ")
    assert has_ended(f"{machine} {number} {int(started) - 1}")


def test_nothing_is_known_of_another_machine():
    assert not has_ended(f"elsewhere{this_process()}")
