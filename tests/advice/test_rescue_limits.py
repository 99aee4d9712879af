"""The limit above which XLA rematerializes the values of a GPU program."""

from tests.tiny_dumps import tiny_dump
from xlagraph.advice.rescue_limits import rescue_limits
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest

ALLOCATIONS = """
0 | 100 | parameter 0, shape |f32[25]| at ShapeIndex {}
1 | 300 | preallocated-temp
2 | 100 | output shape is |f32[25]|, maybe-live-out
"""
VALUES = """
0 | p | f32[25]{0} | 0 | 100 | 0-2 | parameter(0)
1 | t | f32[75]{0} | 0 | 300 | 1-2 | fusion(p)
2 | o | f32[25]{0} | 0 | 100 | 2-3 | negate(t)
"""


def test_the_limit_is_95_percent_of_what_inputs_and_outputs_leave(tmp_path):
    for stage in ("gpu", "cpu"):
        stem = f"module_0001.jit_f.{stage}_after_optimizations"
        folder = tmp_path / "dumps"
        folder.mkdir(exist_ok=True)
        (folder / f"{stem}-buffer-assignment.txt").write_text(tiny_dump(ALLOCATIONS, VALUES))
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        added = ingest(graph, tmp_path / "dumps", jobs=1).added
        (limit,) = rescue_limits(graph, added, 500)
        (short,) = rescue_limits(graph, added, 600)
    assert (limit.limit_bytes, limit.temp_bytes) == (285, 300)
    assert "300 B, 15 B above" in limit.sentence
    assert "300 B, 80 B below, so it does not start" in short.sentence
