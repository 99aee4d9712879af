"""Fixtures for tests of answers over real dumps."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from odd_dumps import write_odd_dumps
from real_dumps import Real, choose_dumps

from xlagraph.graph import open_graph
from xlagraph.ingest import ingest


@pytest.fixture(scope="session")
def real(shared_dumps: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    """One or two compilations of each producer, with all that is odd about them."""
    root = tmp_path_factory.mktemp("real")
    write_odd_dumps(root / "odd")
    dumps = choose_dumps(shared_dumps, root)
    with open_graph(tmp_path_factory.mktemp("graph") / "real.lbug", create=True) as graph:
        ingest(graph, root, jobs=1)
        yield Real(graph, dumps)
