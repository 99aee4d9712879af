"""Causes named only for what a replan saves beyond another, or for what their values are."""

import re

import pytest

from tests.tiny_dumps import tiny_dump, write_dump
from xlagraph.comparison.proved_causes import FoundCause, best_cause, of_elements
from xlagraph.comparison.reasons import Reason, ReasonKind, Subject
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import compare

# `k` is a product of which only the diagonal is read, `g` has gradients of each example
BEFORE = """
0 | x | f32[16,16] | 0   | 1024 | 0-{end} | parameter(0) | x
1 | a | f32[8,16]  | 0   | 512  | 1-4     | broadcast(x) | jit(f)/jvp(ode)/tanh @ f.py:1
1 | b | f32[8,16]  | 512 | 512  | 2-4     | tanh(a) | jit(f)/transpose(jvp(ode))/mul @ f.py:2
2 | r | f32[16,16] | 0   | 1024 | 3-{end} | dot(a, b) | jit(f)/reduce_sum @ f.py:4
"""
AFTER = """
0 | x | f32[16,16]   | 0     | 1024  | 0-{end} | parameter(0) | x
1 | a | f32[8,16]    | 24576 | 512   | 1-4     | broadcast(x) | jit(f)/jvp(ode)/tanh @ f.py:1
1 | b | f32[8,16]    | 16384 | 512   | 2-4     | tanh(a) | jit(f)/transpose(jvp(ode))/mul @ f.py:2
1 | k | f32[64,64]   | 0     | 16384 | 3-5     | dot(a, a) | jit(f)/kernel/dot_general @ f.py:6
1 | g | f32[8,16,16] | 16384 | 8192  | 4-6     | multiply(a, b) | jit(f)/add @ f.py:3
1 | d | f32[64]      | 24576 | 256   | 5-6     | fusion(k) | jit(f)/kernel/diagonal @ f.py:6
2 | r | f32[16,16]   | 0     | 1024  | 6-{end} | reduce(g, d) | jit(f)/reduce_sum @ f.py:4
"""
# the small gradients `a`, `b`, `c` wait to be added; a loop would make `x`, `y`, `z` in turn
IN_TURN = """
0 | w | f32[16,16]  | 0    | 1024 | 0-{end} | parameter(0) | w
1 | x | f32[16,512] | 0    | 32768 | 1-2 | multiply(w) | jit(f)/jvp()/tanh @ f.py:1
1 | a | f32[16,16]  | 32768 | 1024 | 2-5 | dot(x) | jit(f)/transpose(jvp())/dot @ f.py:2
1 | y | f32[16,512] | 0    | 32768 | 3-4 | multiply(w) | jit(f)/jvp()/tanh @ f.py:1
1 | b | f32[16,16]  | 33792 | 1024 | 4-5 | dot(y) | jit(f)/transpose(jvp())/dot @ f.py:2
1 | q | f32[16,16]  | 34816 | 1024 | 5-8 | add(a, b) | jit(f)/add @ f.py:3
1 | z | f32[16,512] | 0    | 32768 | 6-7 | multiply(w) | jit(f)/jvp()/tanh @ f.py:1
1 | c | f32[16,16]  | 32768 | 1024 | 7-8 | dot(z) | jit(f)/transpose(jvp())/dot @ f.py:2
2 | r | f32[16,16]  | 0    | 1024 | 8-{end} | add(q, c) | jit(f)/add @ f.py:3
"""
AT_ONCE = """
0 | w | f32[16,16]  | 0    | 1024 | 0-{end} | parameter(0) | w
1 | x | f32[16,512] | 0    | 32768 | 1-4 | multiply(w) | jit(f)/jvp()/tanh @ f.py:1
1 | y | f32[16,512] | 32768 | 32768 | 2-5 | multiply(w) | jit(f)/jvp()/tanh @ f.py:1
1 | z | f32[16,512] | 65536 | 32768 | 3-6 | multiply(w) | jit(f)/jvp()/tanh @ f.py:1
2 | a | f32[16,16]  | 0 | 1024 | 4-7 | dot(x) | jit(f)/transpose(jvp())/dot @ f.py:2
1 | b | f32[16,16]  | 0    | 1024 | 5-7 | dot(y) | jit(f)/transpose(jvp())/dot @ f.py:2
1 | c | f32[16,16]  | 1024 | 1024 | 6-7 | dot(z) | jit(f)/transpose(jvp())/dot @ f.py:2
2 | r | f32[16,16]  | 0    | 1024 | 7-{end} | add(a, b, c) | jit(f)/add @ f.py:3
"""
# both compute all of `g`, but only one while `k` is live, and only one adds it up
APART = """
0 | x | f32[16,16]   | 0     | 1024  | 0-{end} | parameter(0) | x
1 | z | f32[64,80]   | 0     | 20480 | 1-1 | broadcast(x) | jit(f)/sin @ f.py:5
1 | a | f32[8,16]    | 16384 | 512   | 2-7 | broadcast(x) | jit(f)/jvp(ode)/tanh @ f.py:1
1 | b | f32[8,16]    | 16896 | 512   | 3-7 | tanh(a) | jit(f)/transpose(jvp(ode))/mul @ f.py:2
1 | k | f32[64,64]   | 0     | 16384 | 4-5 | dot(a, a) | jit(f)/kernel/dot_general @ f.py:6
1 | d | f32[64]      | 17408 | 256   | 5-7 | fusion(k) | jit(f)/kernel/diagonal @ f.py:6
1 | g | f32[8,16,16] | 0     | 8192  | 6-7 | multiply(a, b) | jit(f)/add @ f.py:3
2 | r | f32[16,16]   | 0     | 1024  | 7-{end} | dot(g, d) | jit(f)/dot_general @ f.py:4
"""
TOGETHER = """
0 | x | f32[16,16]   | 0     | 1024  | 0-{end} | parameter(0) | x
1 | z | f32[64,80]   | 0     | 20480 | 1-1 | broadcast(x) | jit(f)/sin @ f.py:5
1 | a | f32[8,16]    | 24576 | 512   | 2-5 | broadcast(x) | jit(f)/jvp(ode)/tanh @ f.py:1
1 | b | f32[8,16]    | 16384 | 512   | 3-5 | tanh(a) | jit(f)/transpose(jvp(ode))/mul @ f.py:2
1 | k | f32[64,64]   | 0     | 16384 | 4-6 | dot(a, a) | jit(f)/kernel/dot_general @ f.py:6
1 | g | f32[8,16,16] | 16384 | 8192  | 5-7 | multiply(a, b) | jit(f)/add @ f.py:3
1 | d | f32[64]      | 24576 | 256   | 6-7 | fusion(k) | jit(f)/kernel/diagonal @ f.py:6
2 | r | f32[16,16]   | 0     | 1024  | 7-{end} | reduce(g, d) | jit(f)/reduce_sum @ f.py:4
"""
LATER = "    1 | z | f32[64,64] | 0 | 16384 | {at}-{at} | broadcast(x) | jit(f)/sin @ f.py:5\n"
DIAGONAL = """
%diagonal (p: f32[64,64]) -> f32[64] {
  %p = f32[64,64]{1,0} parameter(0)
  %i = s32[64,1]{1,0} iota(), iota_dimension=0
  %n = s32[64,2]{1,0} concatenate(%i, %i), dimensions={1}
  ROOT %e = f32[64,1,1]{2,1,0} gather(%p, %n), offset_dims={1,2}, slice_sizes={1,1}
}
"""
PRODUCT = "a matrix is computed of which only the diagonal is read (f.py:6)"
GRADIENTS = "gradients are kept for each example (f.py:3)"


def module_of(values):
    """Return the text of the module that makes the values."""
    lines = []
    for row in values.strip().splitlines():
        _, name, shape, _, _, _, call, op = (cell.strip() for cell in row.split("|"))
        layout = ",".join(map(str, reversed(range(shape.count(",") + 1))))
        read = re.sub(r"\b[a-z]\b", r"%\g<0>", call)
        called = ", calls=%diagonal" if call.startswith("fusion") else ""
        metadata = f'metadata={{op_name="{op.partition(" @ ")[0]}"}}'
        root = "ROOT " if name == "r" else ""
        lines.append(f"  {root}%{name} = {shape}{{{layout}}} {read}{called}, {metadata}")
    head = f"HloModule jit_f, is_scheduled=true\n{DIAGONAL}\n"
    return f"{head}ENTRY %main (x: f32[16,16]) -> f32[16,16] {{\n" + "\n".join(lines) + "\n}\n"


def told(folder, programs, later=""):
    """Return the sentences about two programs, each a run with its values and temporary bytes."""
    for run, values, size in programs:
        at = values.count("|") // 7
        table = (values + later).format(at=at, end=at + bool(later))
        temp = max(size, 16384 if later else 0)
        blocks = (
            "0 | 1024 | parameter 0, shape |f32[16,16]| at ShapeIndex {}\n"
            f"1 | {temp} | preallocated-temp\n2 | 1024 | maybe-live-out"
        )
        path = write_dump(folder / "runs" / run, 1, "jit_f", tiny_dump(blocks, table))
        module = path.with_name(path.name.replace("-buffer-assignment", ""))
        module.write_text(module_of(table))
    with open_graph(folder / "g.lbug", create=True) as graph:
        assert ingest(graph, folder / "runs", jobs=1).ok
        return [each.text for each in compare(graph, "before", "after").sentences]


@pytest.mark.parametrize(
    ("later", "named"),
    [
        pytest.param("", [PRODUCT, GRADIENTS], id="both at the only peak"),
        pytest.param(LATER, [PRODUCT], id="another peak remains without the first"),
    ],
)
def test_a_second_cause_is_named_for_what_it_saves_beyond_the_first(tmp_path, later, named):
    texts = told(tmp_path, [("before", BEFORE, 1024), ("after", AFTER, 25088)], later)
    causes = [each.partition(";")[0] for each in texts]
    assert [each for each in causes if each in (PRODUCT, GRADIENTS)] == named, texts


def test_a_cause_whose_own_values_are_few_is_not_named_for_larger_ones(tmp_path):
    texts = told(tmp_path, [("before", IN_TURN, 35840), ("after", AT_ONCE, 98304)])
    assert texts[0].startswith("same values, "), texts
    assert not any("gradients" in each for each in texts), texts


def test_gradients_that_both_programs_compute_are_no_cause_of_what_is_live_beside_them(tmp_path):
    texts = told(tmp_path, [("before", APART, 20480), ("after", TOGETHER, 25088)])
    assert texts[0].startswith("same values, "), texts
    assert not any("gradients" in each for each in texts), texts


@pytest.mark.parametrize(("depth", "expected"), [("gone", "at once"), ("new", "stacked")])
def test_what_a_loop_computes_in_parts_is_not_computed_at_once(depth, expected):
    reason = Reason(Subject(ReasonKind.LOOPED, after=depth), 64)
    reason.growth_by_label[True, "a"] = 64
    causes = [
        FoundCause(title, None, 64, frozenset("a"), (), in_parts=title == "at once")
        for title in ("at once", "stacked")
    ]
    best = best_cause(causes, reason)
    assert best
    assert best.title == expected


@pytest.mark.parametrize(("values", "is_named"), [(11, False), (2, True)])
def test_a_loop_over_parts_of_a_batch_leaves_the_layers_unrolled(values, is_named):
    reason = Reason(Subject(ReasonKind.LOOPED, after="new"), -64, count_a=8, count_b=values)
    reason.growth_by_label[False, "a"] = -64
    cause = FoundCause("layers", None, 64, frozenset("a"), (), in_parts=True, is_unrolled=True)
    assert best_cause([cause], reason) == (cause if is_named else None)


def test_a_loop_that_replaces_vmap_leaves_other_dimensions_as_they_are():
    mapped = Reason(Subject(ReasonKind.UNROLLED, "64", "jax.vmap"), turns={(64, 0)})
    titles = ("Gradients are kept for each example", "Derivatives in all of 24 directions")
    causes = [FoundCause(title, None, 64, frozenset(), (), in_parts=True) for title in titles]
    assert of_elements(causes, [mapped]) == causes[:1]
    assert of_elements(causes, []) == causes


@pytest.mark.parametrize(("shape", "is_left"), [("f32[8,4]", True), ("f32[2,4]", False)])
def test_a_cause_is_left_if_a_program_has_arrays_of_its_shape(shape, is_left):
    cause = FoundCause("logits", None, 64, frozenset("a"), (), in_parts=True, shape="f32[8,4]")
    assert cause.is_left_in({shape}) is is_left
    assert not cause._replace(in_parts=False).is_left_in({shape})


@pytest.mark.parametrize(("all_bytes", "is_named"), [(320, True), (1280, False)])
def test_a_cause_of_which_a_reason_has_few_values_is_not_its_cause(all_bytes, is_named):
    reason = Reason(Subject(ReasonKind.REPLACED), 64)
    reason.growth_by_label[True, "a"] = 64
    cause = FoundCause("at once", None, all_bytes, frozenset("a"), (), in_parts=True)
    assert best_cause([cause], reason) == (cause if is_named else None)
