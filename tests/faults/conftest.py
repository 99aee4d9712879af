"""Fixtures of the tests of faults."""

from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite(
    "tests.faults.harness.graph_states",
    "tests.faults.harness.kills",
    "tests.faults.harness.watched_replacements",
)

from tests.faults.harness.forked_commands import Commands, command_server  # noqa: E402


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    """Processes that run `xlagraph`, one at a time; only arguments name a graph."""
    with command_server(tmp_path_factory.mktemp("commands")) as started:
        yield started
