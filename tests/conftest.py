"""Fixtures for all tests: sample dumps, and the graphs of both engines."""

import os
import shutil
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.corpus.pack import unpack

pytest_plugins = (
    "tests.browser_fixtures",
    "tests.command_fixtures",
    "tests.graph_fixtures",
    "tests.ingest_fixtures",
    "tests.real_dumps_fixtures",
)

# The time of an example depends on the load of the machine.
settings.register_profile(
    "tests", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("tests")

# A shell lets what it runs in the background ignore Ctrl-C, and so would the processes of
# the tests that press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_LONG = (
    "tests/browser/",
    "tests/faults/",
    "tests/graph/exporter/",
    "tests/queries/test_query_answers.py",
    "tests/test_documentation.py",
)
"""Files that take a minute: begun last, they would leave the other processor idle."""

_KILLS_ITS_SERVER = "tests/faults/test_server_faults.py"
"""After the other tests of its Java process, which would have to be started for them again."""

MOST_WORKERS = 4  # each may start a server, which takes a gigabyte


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the number of processes for `-n auto`: one if they would share a database.

    There is one more than processors, because tests also wait for servers and browsers.
    """
    return 1 if os.environ.get("NEO4J_URI") else min(MOST_WORKERS, 1 + (os.cpu_count() or 1))


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Keep files together, and all tests of a Neo4j process; let the longest begin.

    Each process takes half a minute of a processor until it has planned what tests ask.
    """
    # before pytest-xdist reads the groups
    for item in items:
        file = item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group(_process(item) or file))
    yield
    is_grouped = all("@" in item.nodeid for item in items)
    if getattr(config.option, "loadgroup", False) and not is_grouped:
        raise pytest.UsageError("pytest-xdist ignores groups of tests under this pytest")
    items.sort(key=_place)  # after pytest has sorted by fixtures


def _place(item: pytest.Item) -> int:
    """Return the place of a test: those of a Neo4j, other long files, then the rest."""
    is_early = _process(item) and not item.nodeid.startswith(_KILLS_ITS_SERVER)
    return 0 if is_early else 1 if item.nodeid.startswith(_LONG) else 2


def _process(item: pytest.Item) -> str | None:
    """Return the name of the Java process that a test shares with others."""
    names = getattr(item, "fixturenames", ())
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    if "neo4j_server" in names or "neo4j" in parameters:
        return "neo4j"
    return "start_server" if "start_server" in names else None


TREE = Path(__file__).resolve().parents[1]
SHARED_DUMPS = TREE / ".." / "shared" / "dumps"


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real dumps in the repository: `versions` and `tpu`, and the examples in `runs`."""
    folder = tmp_path_factory.mktemp("corpus")
    unpack(folder)
    shutil.copytree(TREE / "examples" / "runs", folder / "runs")
    return folder


@pytest.fixture(scope="session")
def shared_dumps() -> Path:
    """Larger real dumps next to the repository, if there are any."""
    if not SHARED_DUMPS.is_dir():
        pytest.skip("the folder ../shared/dumps with more real dumps is not there")
    return SHARED_DUMPS.resolve()


@pytest.fixture(scope="session", params=["carried", "shared"])
def real_dumps(request: pytest.FixtureRequest) -> list[Path]:
    """Folders of real dumps: those in the repository, then those next to it."""
    if request.param == "carried":
        return [request.getfixturevalue("corpus")]
    shared: Path = request.getfixturevalue("shared_dumps")
    return [shared / name for name in ("big", "runs", "seeds")]
