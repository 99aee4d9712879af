"""A program small enough to know every byte, in a graph."""

import re
from pathlib import Path

from tests.tiny_dumps import tiny_dump
from xlagraph.graph import Graph
from xlagraph.ingest import ingest

SMALL = "small/jit_f"
"""Peak at step 4: 4096 bytes of `x` and `over`, 1024 of `kept` and `out`. No stacks."""
OLD = "old/jit_f"
"""The same program without live ranges."""

_ALLOCATIONS = """
    0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
    1 | 1024 | maybe-live-out
    2 | 6144 | preallocated-temp
"""
_VALUES = """
    0 | x    | f32[1024]{0} | 0    | 4096 | 0-5 | parameter(0)
    2 | wide | f32[1024]{0} | 0    | 4096 | 1-3 | sine(x)         | jit(f)/layer/sin @ model.py:12
    2 | kept | f32[256]{0}  | 4096 | 1024 | 2-4 | slice(x)        | jit(f)/layer/slice @ model.py:14
    2 | over | f32[1024]{0} | 0    | 4096 | 3-4 | cosine(wide)    | jit(f)/head/cos @ model.py:20
    1 | out  | f32[256]{0}  | 0    | 1024 | 4-5 | fft(kept, over) | jit(f)/fft @ model.py:21
"""


def ingest_small(graph: Graph, folder: Path) -> None:
    """Fill a graph with the compilations `SMALL` and `OLD`."""
    for run, values in (("small", _VALUES), ("old", re.sub(r"\d-\d", "-", _VALUES))):
        (folder / run).mkdir(parents=True)
        (folder / run / "jit_f.txt").write_text(tiny_dump(_ALLOCATIONS, values))
    assert ingest(graph, folder, jobs=1).ok
