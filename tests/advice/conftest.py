"""Answers are tested on one engine; both return the same rows (test_statements_of_commands)."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.graph_fixtures import GraphOf
from tests.tiny_dumps import tiny_dump
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.graph import Graph
from xlagraph.ingest import ingest
from xlagraph.planner.compilation.stored_compilation import StoredCompilation


@pytest.fixture
def graph(embedded_graph: Graph) -> Graph:
    return embedded_graph


@pytest.fixture(scope="module")
def graph_of(file_graph_of: GraphOf) -> GraphOf:
    return file_graph_of


@pytest.fixture
def programs(embedded_graph: Graph, tmp_path: Path) -> Callable[[str, str], PeakProgram]:
    """Return the program of a tiny dump for the search for causes."""

    def read(allocations: str, values: str) -> PeakProgram:
        folder = tmp_path / "runs" / tmp_path.name
        folder.mkdir(parents=True)
        (folder / "f.txt").write_text(tiny_dump(allocations, values))
        assert ingest(embedded_graph, folder.parent, jobs=1).ok
        return PeakProgram(StoredCompilation(embedded_graph, f"{tmp_path.name}/f"), 0)

    return read


@pytest.fixture
def returning(programs):
    """Return the program of a tiny dump that returns the values with these labels."""

    def read(allocations, values, *results):
        program = programs(allocations, values)
        ids = [program.by_label[label].value_id for label in results]
        compilation = program.compilation
        planned = tuple(
            value._replace(lives_out=value.value_id in ids) for value in program.program.values
        )
        changed = replace(compilation.program, values=planned)
        program.compilation = replace(compilation, results=tuple(ids), program=changed)
        return program

    return read
