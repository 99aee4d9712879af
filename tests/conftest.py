"""What tests of every part share: where sample dumps are, and the graphs of both engines."""

import os
import signal
from pathlib import Path

import pytest

pytest_plugins = ("browser_fixtures", "graph_fixtures")

# A shell lets what it runs in the background ignore Ctrl-C, and so would the processes of
# the tests that press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

MOST_WORKERS = 4  # each may start a server, which takes a gigabyte


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Say how many processes `-n auto` is: one where they would empty the same database."""
    return 1 if os.environ.get("NEO4J_URI") else min(MOST_WORKERS, os.cpu_count() or 1)


SHARED_DUMPS = Path(__file__).resolve().parents[1] / ".." / "shared" / "dumps"


@pytest.fixture(scope="session")
def shared_dumps() -> Path:
    """Real dumps of many producers, which lie beside the repository."""
    if not SHARED_DUMPS.is_dir():
        pytest.skip("the folder ../shared/dumps with real dumps is not there")
    return SHARED_DUMPS.resolve()
