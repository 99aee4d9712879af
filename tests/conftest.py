"""What tests of every part share: where sample dumps are, and the graphs of both engines."""

from pathlib import Path

import pytest

pytest_plugins = ("graph_fixtures",)

SHARED_DUMPS = Path(__file__).resolve().parents[1] / ".." / "shared" / "dumps"


@pytest.fixture(scope="session")
def shared_dumps() -> Path:
    """Real dumps of many producers, which lie beside the repository."""
    if not SHARED_DUMPS.is_dir():
        pytest.skip("the folder ../shared/dumps with real dumps is not there")
    return SHARED_DUMPS.resolve()
