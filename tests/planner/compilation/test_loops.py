"""`value` names the loop that makes a value, or fills it part by part."""

from pathlib import Path

import pytest

from tests.graph_fixtures import GraphOf
from tests.queries.query_cases import read_cases
from xlagraph.cli.summaries.value import details_lines
from xlagraph.graph import Graph
from xlagraph.ingest import ingest
from xlagraph.planner.compilation.value_cells import value_cells
from xlagraph.queries import value

(CHAIN,) = [case for case in read_cases() if case.query == "alias/chain"]


def fill(graph: Graph, folder: Path) -> None:
    """Fill a graph with the scan of the cases of alias/chain, as `run/scan`."""
    (folder / "run").mkdir()
    for name, text in CHAIN.files.items():
        if name.startswith("scan"):
            (folder / "run" / name).write_text(text)
    ingest(graph, folder, jobs=1)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "loop{1}",
            [
                "a stack: 4 iterations of loop fill it, 8 B each, and all are kept",
                "each iteration writes part into it",
            ],
        ),
        ("part", ["computed in every iteration of loop, 4 times, in the same bytes"]),
    ],
)
def test_the_page_names_the_loop_and_the_number_of_turns(
    graph_of: GraphOf, name: str, lines: list[str]
):
    details = value(graph_of(fill), name)
    assert [text for part, text in details_lines(details) if part == "loop"] == lines


def test_json_has_the_stack_and_the_loop(graph_of: GraphOf):
    stacked = value_cells(value(graph_of(fill), "write"))
    assert stacked["loopStack"] == {
        "stackLoop": "loop",
        "stackTurns": 4,
        "turnBytes": 8,
        "stackElement": "part",
    }
    assert stacked["loop"] == {"loop": "loop", "turns": 4}
    assert value_cells(value(graph_of(fill), "part"))["loopStack"] is None
