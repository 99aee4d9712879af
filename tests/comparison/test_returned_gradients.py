"""Sentences about returned gradients name the inputs only if dependence and order prove them."""

import pytest

from tests.tiny_dumps import tiny_dump, write_dump
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import compare

BLOCKS = """
0 | 512 | parameter 0, shape |f32[128]| at ShapeIndex {}
1 | 256 | parameter 1, shape |f32[1,64]| at ShapeIndex {}
2 | 512 | parameter 2, shape |f32[128]| at ShapeIndex {}
4 | 512 | maybe-live-out
"""
VALUES = """
0 | a | f32[128] | 0 | 512 | 0-6 | parameter(0) | p['a']
1 | b | f32[1,64] | 0 | 256 | 0-6 | parameter(1) | {b}
2 | m | f32[128] | 0 | 512 | 0-6 | parameter(2) | state['a']
{at} | x{of_x} | f32[128] | 0 | 512 | 3-6 | multiply(a) | jit(f)/transpose(jvp())/mul @ f.py:2
{by} | y{of_y} | f32[64] | {on} | 256 | 4-6 | multiply(b) | jit(f)/transpose(jvp())/{y} @ f.py:2
4 | n, r{{0}} | f32[128] | 0 | 512 | 5-6 | add(x, y, m) | jit(f)/add @ f.py:3
- | r | ({types}) | - | - | 6-6 | tuple({results})
"""
MODULE = """HloModule jit_f, is_scheduled=true

ENTRY %main (a: f32[128], b: f32[1,64], m: f32[128]) -> ({types}) {{
  %a = f32[128]{{0}} parameter(0), metadata={{op_name="p['a']"}}
  %b = f32[1,64]{{1,0}} parameter(1), metadata={{op_name="{b}"}}
  %m = f32[128]{{0}} parameter(2), metadata={{op_name="state['a']"}}
  %x = f32[128]{{0}} multiply(%a), metadata={{op_name="jit(f)/transpose(jvp())/mul"}}
  %y = f32[64]{{0}} multiply(%b), metadata={{op_name="jit(f)/transpose(jvp())/{y}"}}
  %n = f32[128]{{0}} add(%x, %y, %m), metadata={{op_name="jit(f)/add"}}
  ROOT %r = ({types}) tuple({results})
}}
"""
PROGRAMS = [
    (
        "before",
        ["n"],
        "3 | 768 | preallocated-temp\n",
        {"at": 3, "by": 3, "on": 512, "of_x": "", "of_y": ""},
    ),
    (
        "after",
        ["n", "x", "y"],
        "5 | 512 | maybe-live-out\n6 | 256 | maybe-live-out\n",
        {"at": 5, "by": 6, "on": 0, "of_x": ", r{1}", "of_y": ", r{2}"},
    ),
]
SHAPES = ["f32[128]{0}", "f32[128]{0}", "f32[64]{0}"]


@pytest.mark.parametrize(
    ("b", "op", "sentence"),
    [
        pytest.param("p['b']", "mul", "gradients of 2 inputs (p) are returned", id="of two"),
        pytest.param("q", "mul", "gradients of 2 inputs (p, q) are returned", id="of all"),
        pytest.param(
            "p['b']", "rematted_computation/mul", "gradients of 1 input (p['a']) are", id="of one"
        ),
    ],
)
def test_returned_gradients_are_those_of_inputs_on_which_they_depend(tmp_path, b, op, sentence):
    for run, returned, blocks, places in PROGRAMS:
        types = ", ".join(SHAPES[: len(returned)])
        made = {"b": b, "y": op, "types": types, "results": ", ".join(returned)}
        dump = tiny_dump(BLOCKS + blocks, VALUES.format(**made, **places))
        path = write_dump(tmp_path / "runs" / run, 1, "jit_f", dump)
        text = MODULE.format(**made)
        path.with_name(path.name.replace("-buffer-assignment", "")).write_text(text)
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        assert ingest(graph, tmp_path / "runs", jobs=1).ok
        new = compare(graph, "before", "after").sentences[0].text
        gone = compare(graph, "after", "before").sentences[0].text
    assert new.startswith(sentence)
    assert gone.startswith(f"no longer: {sentence}")
