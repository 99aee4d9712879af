"""A cause that both programs have at one line is named at another one if only one has it there."""

from tests.tiny_dumps import tiny_dump, write_dump
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import compare

BLOCKS = """
0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}, maybe-live-out
1 | 4096 | parameter 1, shape |f32[1024]| at ShapeIndex {}, maybe-live-out
2 | 4 | maybe-live-out
3 | 4 | maybe-live-out
"""
ONE = """
0 | x | f32[1024] | 0 | 4096 | 0-2 | parameter(0) | x
1 | y | f32[1024] | 0 | 4096 | 0-3 | parameter(1) | y
4 | k | f32[1024] | 0 | 4096 | 1-5 | copy(x)
3 | t, r{3} | f32[1] | 0 | 4 | 2-6 | reduce(y) | jit(f)/reduce_max @ f.py:9
0 | a, r{0} | f32[1024] | 0 | 4096 | 3-6 | negate(x) | jit(f)/neg @ f.py:2
1 | b, r{1} | f32[1024] | 0 | 4096 | 4-6 | negate(y) | jit(f)/neg @ f.py:3
2 | s, r{2} | f32[1] | 0 | 4 | 5-6 | reduce(k) | jit(f)/reduce_sum @ f.py:7
- | r | (f32[1024], f32[1024], f32[1], f32[1]) | - | - | 6-6 | tuple(a, b, s, t)
"""
BOTH = """
0 | x | f32[1024] | 0    | 4096 | 0-3 | parameter(0) | x
1 | y | f32[1024] | 0    | 4096 | 0-4 | parameter(1) | y
4 | k | f32[1024] | 0    | 4096 | 1-6 | copy(x)
4 | l | f32[1024] | 4096 | 4096 | 2-5 | copy(y)
0 | a, r{0} | f32[1024] | 0 | 4096 | 3-7 | negate(x) | jit(f)/neg @ f.py:2
1 | b, r{1} | f32[1024] | 0 | 4096 | 4-7 | negate(y) | jit(f)/neg @ f.py:3
3 | t, r{3} | f32[1] | 0 | 4 | 5-7 | reduce(l) | jit(f)/reduce_max @ f.py:9
2 | s, r{2} | f32[1] | 0 | 4 | 6-7 | reduce(k) | jit(f)/reduce_sum @ f.py:7
- | r | (f32[1024], f32[1024], f32[1], f32[1]) | - | - | 7-7 | tuple(a, b, s, t)
"""
ALIASES = "input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }"


def module_of(values):
    """Return the text of the module that makes the values."""
    lines = [f"HloModule jit_f, is_scheduled=true, {ALIASES}\n", "ENTRY %main () -> () {"]
    for row in values.strip().splitlines():
        _, name, shape, _, _, _, made, *op = (cell.strip() for cell in row.split("|"))
        metadata = f', metadata={{op_name="{op[0].partition(" @ ")[0]}"}}' if op else ""
        root = "ROOT " if name == "r" else ""
        lines.append(f"  {root}%{name.partition(',')[0]} = {shape} {made}{metadata}")
    return "\n".join([*lines, "}\n"])


def test_a_reader_at_another_line_is_named_though_both_programs_have_one(tmp_path):
    for run, values, size in (("before", ONE, 4096), ("after", BOTH, 8192)):
        dump = tiny_dump(f"{BLOCKS}4 | {size} | preallocated-temp", values)
        path = write_dump(tmp_path / "runs" / run, 1, "jit_f", dump)
        path.with_name(path.name.replace("-buffer-assignment", "")).write_text(module_of(values))
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        assert ingest(graph, tmp_path / "runs", jobs=1).ok
        first = compare(graph, "before", "after").sentences[0]
    assert first.text.startswith(
        "a reader of the old value forces a copy of a donated input (f.py:9); 1 copy more"
    )
