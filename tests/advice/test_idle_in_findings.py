"""`advise` proposes no checkpoint for what a later part of the forward pass reads first."""

import pytest

from tests.tiny_dumps import ingest_text, tiny_dump
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.findings import find
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.queries import advise, load_catalogue

MINIBATCHES = """
0 | k    | s8[65536] | 196608 | 65536 | 0-5 | sort()     | jit(f)/jvp()/div
0 | w    | s8[65536] | 0      | 65536 | 1-5 | sort()     | jit(f)/jvp()/div
0 | t    | s8[65536] | 65536  | 65536 | 2-3 | sort()
0 | u    | s8[65536] | 131072 | 65536 | 3-4 | sort(t)
0 | last | s8[64]    | 65536  | 64    | 4-5 | fusion({}) | jit(f)/jvp()/mul
0 | g    | s8[64]    | 65600  | 64    | 5-5 | sort(k, w) | jit(f)/transpose(jvp())/mul
"""


@pytest.mark.parametrize(
    ("read", "early", "kept"),
    [("w, u", {"w"}, {"k"}), ("u", set(), {"k", "w"})],
)
def test_a_value_that_waits_for_the_forward_pass_is_not_kept_for_the_backward_pass(
    embedded_graph, tmp_path, read, early, kept
):
    text = tiny_dump("0 | 262144 | preallocated-temp", MINIBATCHES.format(read))
    key = ingest_text(embedded_graph, tmp_path, text)
    program = PeakProgram(StoredCompilation(embedded_graph, key), 0)
    program.obstacle = None  # a tiny dump has no module to plan with
    (compilation,) = advise(embedded_graph).compilations
    found = find(embedded_graph, compilation, program, load_catalogue(), least_share=0).findings
    named = {each.query.id: {row["value"] for row in each.rows} for each in found}
    assert named.get("lifetime/longest", set()) == early
    assert named["lifetime/kept-for-backward"] == kept
