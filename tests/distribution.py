"""Which process runs which tests, where they run in several, and in which order.

All tests of the Neo4j that they share are run by one process: a server takes ten seconds of
processor time until it answers, and twenty more until its code is compiled. The others stay
together by files. What takes longest begins first, so that no process is left alone with it.
"""

import os

import pytest
from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped]  # it has no types

MOST_PROCESSES = 4
LONG = ("tests/browser/", "tests/test_documentation.py", "tests/graph/exporter/", "tests/faults/")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes `-n auto` is: one where they would empty the same database.

    One more than processors, since many tests wait for servers and other processes.
    """
    return 1 if os.environ.get("NEO4J_URI") else min(MOST_PROCESSES, 1 + (os.cpu_count() or 1))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadGroupScheduling:
    """Return what deals the tests out."""
    return _FilesAndGroups(config, log)


class _FilesAndGroups(LoadGroupScheduling):  # type: ignore[misc]  # it has no types
    """Deals out groups of tests, and whole files of those that are in none."""

    def _split_scope(self, nodeid: str) -> str:
        group = super()._split_scope(nodeid)
        return nodeid.split("::")[0] if group == nodeid else group


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what needs the shared Neo4j, and sort the tests if they run in several processes."""
    if not hasattr(config, "workerinput"):
        return
    of_server = {test for test in items if _needs_server(test)}
    for test in of_server:
        test.add_marker(pytest.mark.xdist_group("neo4j"))
    items.sort(key=lambda test: (test not in of_server, not test.nodeid.startswith(LONG)))


def _needs_server(test: pytest.Item) -> bool:
    assert isinstance(test, pytest.Function)
    chosen = test.callspec.params.values() if hasattr(test, "callspec") else ()
    return "neo4j_server" in test.fixturenames or "neo4j" in chosen
