"""Which process runs which tests, where they run in several, and in which order.

All tests of the Neo4j that they share have `neo4j` in their ids and are run by one process: a
server takes ten seconds of processor time until it answers, and twenty more until its code is
compiled. The others stay together by files. What takes longest begins first, so that no process
is left alone with it.
"""

import os
import re

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]  # it has no types

MOST_PROCESSES = 4
OF_SERVER = re.compile(r"[\[-]neo4j[]-]")
LONG = ("tests/browser/", "tests/test_documentation.py", "tests/graph/exporter/", "tests/faults/")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes `-n auto` is: one where they would empty the same database.

    One more than processors, since many tests wait for servers and other processes.
    """
    return 1 if os.environ.get("NEO4J_URI") else min(MOST_PROCESSES, 1 + (os.cpu_count() or 1))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadFileScheduling:
    """Return what deals the tests out."""
    return _FilesAndServer(config, log)


class _FilesAndServer(LoadFileScheduling):  # type: ignore[misc]  # it has no types
    """Deals out files, and what needs the shared server as if it were one more."""

    def _split_scope(self, nodeid: str) -> str:
        return "neo4j" if OF_SERVER.search(nodeid) else super()._split_scope(nodeid)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Name the engine in the ids of tests that ask for the server, as in those of both engines.

    The process that deals tests out knows no more of them than their ids.
    """
    if "neo4j_server" in metafunc.fixturenames:
        metafunc.fixturenames.append("engine_of_test")
        metafunc.parametrize("engine_of_test", ["neo4j"])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort the tests if they run in several processes."""
    if hasattr(config, "workerinput"):
        items.sort(
            key=lambda test: (
                not OF_SERVER.search(test.nodeid),
                not test.nodeid.startswith(LONG),
            )
        )
