"""Gradients wait for their norm if each update reads a gradient and the norm."""

import pytest

from tests.tiny_dumps import tiny_dump, write_dump
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import compare

BLOCKS = """
0 | 512 | parameter 0, shape |f32[128]| at ShapeIndex {}
1 | 512 | parameter 1, shape |f32[128]| at ShapeIndex {}
2 | 512 | maybe-live-out
3 | 512 | maybe-live-out
"""
INPUTS = """
0 | p | f32[128] | 0 | 512 | 0-{end} | parameter(0) | p['a']
1 | q | f32[128] | 0 | 512 | 0-{end} | parameter(1) | p['b']
"""
FREED = """
4 | a | f32[128] | 0 | 512 | 2-3 | multiply(p) | jit(f)/transpose(jvp())/mul @ f.py:2
2 | u, r{0} | f32[128] | 0 | 512 | 3-6 | subtract(p, a) | jit(f)/sub @ f.py:3
4 | b | f32[128] | 0 | 512 | 4-5 | multiply(q) | jit(f)/transpose(jvp())/mul @ f.py:2
3 | v, r{1} | f32[128] | 0 | 512 | 5-6 | subtract(q, b) | jit(f)/sub @ f.py:3
- | r | (f32[128], f32[128]) | - | - | 6-6 | tuple(u, v)
"""
WAITING = """
4 | a | f32[128] | 0 | 512 | 2-5 | multiply(p) | jit(f)/transpose(jvp())/mul @ f.py:2
4 | b | f32[128] | 512 | 512 | 3-6 | multiply(q) | jit(f)/transpose(jvp())/mul @ f.py:2
4 | n | f32[] | 1024 | 4 | 4-6 | reduce({normed}) | jit(f)/reduce_sum @ f.py:4
2 | u, r{{0}} | f32[128] | 0 | 512 | 5-7 | subtract(p, a, n) | jit(f)/sub @ f.py:3
3 | v, r{{1}} | f32[128] | 0 | 512 | 6-7 | subtract(q, b, n) | jit(f)/sub @ f.py:3
- | r | (f32[128], f32[128]) | - | - | 7-7 | tuple(u, v)
"""
SENTENCE = (
    "2 gradients stay live until a number that depends on all of them, such as their norm, is known"
    " (f.py:4); same values, but"
)


LOOP = """
4 | z | f32[128] | 0 | 512 | {start}-4 | broadcast() | jit(f)/zeros @ f.py:2
4 | y | f32[128] | 512 | 512 | {start}-4 | broadcast() | jit(f)/zeros @ f.py:2
4 | w | f32[256] | {at} | 1024 | 1-2 | exponential(q) | jit(f)/exp @ f.py:1
- | s | (f32[128], f32[128]) | - | - | 4-4 | tuple(z, y)
4 | a, l{{0}} | f32[128] | 0 | 512 | 5-7 | while(s) | jit(f)/transpose(jvp())/while @ f.py:2
4 | b, l{{1}} | f32[128] | 512 | 512 | 5-8 | while(s) | jit(f)/transpose(jvp())/while @ f.py:2
4 | n | f32[] | 1024 | 4 | 6-8 | reduce({normed}) | jit(f)/reduce_sum @ f.py:4
2 | u, r{{0}} | f32[128] | 0 | 512 | 7-9 | subtract(p, a, n) | jit(f)/sub @ f.py:3
3 | v, r{{1}} | f32[128] | 0 | 512 | 8-9 | subtract(q, b, n) | jit(f)/sub @ f.py:3
- | r | (f32[128], f32[128]) | - | - | 9-9 | tuple(u, v)
"""


@pytest.mark.parametrize(("normed", "is_named"), [("a, b", True), ("b", False)])
def test_gradients_that_are_read_beside_their_norm_wait_for_it(tmp_path, normed, is_named):
    waiting = WAITING.format(normed=normed)
    for run, values, temp in (("before", FREED, 512), ("after", waiting, 1088)):
        inputs = INPUTS.format(end=values.count("\n"))
        dump = tiny_dump(f"{BLOCKS}4 | {temp} | preallocated-temp\n", inputs + values)
        write_dump(tmp_path / "runs" / run, 1, "jit_f", dump)
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        assert ingest(graph, tmp_path / "runs", jobs=1).ok
        new = compare(graph, "before", "after").sentences[0].text
        gone = compare(graph, "after", "before").sentences[0].text
    assert new.startswith(SENTENCE) is is_named
    assert gone.startswith(f"no longer: {SENTENCE}") is is_named


def test_zeros_from_which_a_loop_adds_up_gradients_do_not_wait(tmp_path):
    early = LOOP.format(start=1, normed="a, b", at=1024)
    late = LOOP.format(start=3, normed="b", at=0)
    for run, values, temp in (("before", late, 1088), ("after", early, 2048)):
        inputs = INPUTS.format(end=values.count("\n"))
        dump = tiny_dump(f"{BLOCKS}4 | {temp} | preallocated-temp\n", inputs + values)
        write_dump(tmp_path / "runs" / run, 1, "jit_f", dump)
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        assert ingest(graph, tmp_path / "runs", jobs=1).ok
        texts = [each.text for each in compare(graph, "before", "after").sentences]
    assert not any("gradients stay live" in text for text in texts)
