"""Answers are tested on one engine; both return the same rows (test_statements_of_commands)."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from tests.graph_fixtures import GraphOf
from tests.row_graph import RowGraph
from tests.tiny_dumps import ingest_text, tiny_dump
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.graph import Graph
from xlagraph.planner.compilation.stored_compilation import StoredCompilation


@pytest.fixture
def graph(embedded_graph: Graph) -> Graph:
    return embedded_graph


@pytest.fixture(scope="module")
def graph_of(file_graph_of: GraphOf) -> GraphOf:
    return file_graph_of


@pytest.fixture
def programs(tmp_path: Path) -> Callable[[str, str], PeakProgram]:
    """Return the program of a tiny dump for the search for causes."""

    def read(allocations: str, values: str) -> PeakProgram:
        graph = RowGraph()
        key = ingest_text(graph, tmp_path, tiny_dump(allocations, values))
        return PeakProgram(StoredCompilation(cast("Graph", graph), key), 0)

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
