"""A call stack of any depth is followed to its outermost caller."""

from pathlib import Path

import pytest

from tests.tiny_dumps import tiny_dump
from xlagraph.graph import Graph
from xlagraph.ingest import ingest
from xlagraph.queries import picture_of, run


def module_text(depth: int) -> str:
    """Write the tables of a stack of one function that calls itself, one line further each time."""
    tables = ["HloModule m", "", "FileNames", '1 "/me/model.py"', "", "FunctionNames", '1 "layer"']
    tables += ["", "FileLocations"]
    tables += [
        f"{number} {{file_name_id=1 function_name_id=1 line={number} column=0}}"
        for number in range(1, depth + 1)
    ]
    tables += ["", "StackFrames"]
    # the caller is printed as its number plus one; the outermost frame has none
    tables += [
        f"{number} {{file_location_id={number} parent_frame_id={number}}}"
        for number in range(1, depth + 1)
    ]
    return "\n".join([*tables, ""])


@pytest.mark.parametrize("depth", [31, 32, 100, 121])
def test_the_outermost_caller_of_a_deep_stack_is_shown(graph: Graph, tmp_path: Path, depth):
    folder = tmp_path / "run"
    folder.mkdir()
    plan = tiny_dump(
        "0 | 64 | preallocated-temp",
        f"0 | x | f32[16]{{0}} | 0 | 64 | 0-0 | iota() | jit(f)/iota @ frame {depth}",
    )
    (folder / "m-buffer-assignment.txt").write_text(plan)
    (folder / "m.txt").write_text(module_text(depth))
    ingest(graph, folder, jobs=1)
    rows = run(graph, "peak/by-stack", compilation="run/m").result.mappings()
    assert [row["depth"] for row in rows] == list(range(1, depth + 1))
    assert {row["cumulativeBytes"] for row in rows} == {64}
    drawn = picture_of(run(graph, "graph/calls", compilation="run/m", value="x", limit=0).result)
    assert sum(node.label == "Frame" for node in drawn.nodes) == depth
    assert sum(edge.type == "CALLED_FROM" for edge in drawn.edges) == depth - 1
