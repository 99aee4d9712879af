"""What tests of every part share: where sample dumps are, and the graphs of both engines."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.corpus.pack import unpack

pytest_plugins = ("tests.browser_fixtures", "tests.graph_fixtures")

# How long an example takes depends on what else the machine does.
settings.register_profile(
    "tests", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("tests")

# A shell lets what it runs in the background ignore Ctrl-C, and so would the processes of
# the tests that press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

MOST_WORKERS = 4  # each may start a server, which takes a gigabyte


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes `-n auto` is: one where they would empty the same database."""
    return 1 if os.environ.get("NEO4J_URI") else min(MOST_WORKERS, os.cpu_count() or 1)


TREE = Path(__file__).resolve().parents[1]
SHARED_DUMPS = TREE / ".." / "shared" / "dumps"


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real dumps that the repository carries: `versions` and `tpu`, and its examples in `runs`."""
    folder = tmp_path_factory.mktemp("corpus")
    unpack(folder)
    shutil.copytree(TREE / "examples" / "runs", folder / "runs")
    return folder


@pytest.fixture(scope="session")
def shared_dumps() -> Path:
    """More real dumps: larger, and beside the repository where somebody put them."""
    if not SHARED_DUMPS.is_dir():
        pytest.skip("the folder ../shared/dumps with more real dumps is not there")
    return SHARED_DUMPS.resolve()


@pytest.fixture(scope="session", params=["carried", "shared"])
def real_dumps(request: pytest.FixtureRequest) -> list[Path]:
    """Folders of real dumps: those that the repository carries, then those beside it."""
    if request.param == "carried":
        return [request.getfixturevalue("corpus")]
    shared: Path = request.getfixturevalue("shared_dumps")
    return [shared / name for name in ("big", "runs", "seeds")]
