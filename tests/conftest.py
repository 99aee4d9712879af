"""What tests of every part share: where sample dumps are, and the graphs of both engines."""

import signal
from pathlib import Path

import pytest

pytest_plugins = ("graph_fixtures",)

# A shell lets what it runs in the background ignore Ctrl-C, and so would the processes of
# the tests that press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED_DUMPS = Path(__file__).resolve().parents[1] / ".." / "shared" / "dumps"


@pytest.fixture(scope="session")
def shared_dumps() -> Path:
    """Real dumps of many producers, which lie beside the repository."""
    if not SHARED_DUMPS.is_dir():
        pytest.skip("the folder ../shared/dumps with real dumps is not there")
    return SHARED_DUMPS.resolve()
