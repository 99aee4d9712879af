"""Fixtures for tests of answers over real dumps."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.queries.odd_dumps import write_odd_dumps
from tests.queries.plain.plan import read_dump
from tests.queries.real_dumps import RealDumps, link_largest
from xlagraph.graph import open_graph
from xlagraph.graph.asked_once import AskedOnce
from xlagraph.ingest import find_dumps, ingest


@pytest.fixture(scope="session")
def largest_dumps(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one or two compilations of each producer, including all odd ones."""
    root = tmp_path_factory.mktemp("real")
    link_largest(corpus, root)
    write_odd_dumps(root / "odd")
    return root


@pytest.fixture(scope="session")
def real(largest_dumps: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealDumps]:
    """The largest dumps in a graph file, and parsed independently."""
    with open_graph(tmp_path_factory.mktemp("graph") / "real.lbug", create=True) as graph:
        ingest(graph, largest_dumps, jobs=1)
        dumps = [read_dump(files) for files in find_dumps(largest_dumps).dumps]
        # each answer begins with the same checks of its compilation
        yield RealDumps(AskedOnce(graph), dumps)
