"""All queries recognise the passes of a training step by the same words."""

import pytest

from tests.tiny_dumps import tiny_dump
from xlagraph.hlo.op_names import (
    BACKWARD_MARKS,
    RECOMPUTED_MARKS,
    framework_of,
    is_backward,
    is_recomputed,
    names_before_checkpoint,
    stem,
)
from xlagraph.ingest import ingest
from xlagraph.planner.compilation.plannable_compilation import plannable_compilation
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.edits.edit import replan
from xlagraph.planner.edits.recomputing import Checkpoint
from xlagraph.queries import load_catalogue


@pytest.mark.parametrize("marks", [BACKWARD_MARKS, RECOMPUTED_MARKS])
def test_a_query_that_searches_for_one_mark_searches_for_all(marks):
    told_apart = []
    for query in load_catalogue().values():
        compared = [query.text.count(f"CONTAINS '{mark}'") for mark in marks]
        if any(compared):
            told_apart.append(query.id)
            assert len(set(compared)) == 1, query.id
    assert len(told_apart) >= 3


@pytest.mark.parametrize(
    ("op_name", "backward", "recomputed"),
    [
        (None, False, False),
        ("jit(f)/jvp(layer)/dot", False, False),
        ("jit(f)/transpose(jvp(layer))/dot", True, False),
        ("jit(f)/transpose(jvp(layer))/checkpoint/rematted_computation/dot", True, True),
        ("gradient_tape/model/dense/MatMul", True, False),
        ("gradients/dense/MatMul_grad/MatMul", True, False),
        ("recompute_grad/dense/MatMul", False, True),
        ("jit(f)/jit(main)/add_any", True, False),
    ],
)
def test_op_names_show_the_pass(op_name, backward, recomputed):
    assert (is_backward(op_name), is_recomputed(op_name)) == (backward, recomputed)


@pytest.mark.parametrize(
    ("op_name", "names"),
    [
        ("jvp(net)/block/mul", ["net", "block", "mul"]),
        ("transpose(jvp(net))/block/jvp(net)/block/remat2", ["net", "block"]),
        ("jit(g)/transpose(jvp(net))/block/jvp(net)/block/remat2", ["g", "net", "block"]),
        ("jit(net)/transpose(jvp(net))/block/jvp(net)/block/remat2", ["net", "block"]),
        ("transpose(jvp())/while/body/while/body/mul", ["while", "body", "while", "body", "mul"]),
    ],
)
def test_scopes_that_the_backward_pass_of_a_checkpoint_names_again_count_once(op_name, names):
    assert list(names_before_checkpoint(f"jit(f)/{op_name}")) == names
    assert list(stem(f"jit(f)/{op_name}")) == names


def test_gradients_of_tensorflow_are_read_as_backward_and_not_as_recomputed(graph, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "f.txt").write_text(
        tiny_dump(
            """
            0 | 2048 | parameter 0, shape |s8[2048]| at ShapeIndex {}
            1 | 6144 | preallocated-temp
            """,
            """
            0 | x | s8[2048] | 0    | 2048 | 0-4 | parameter(0)
            1 | h | s8[2048] | 0    | 2048 | 1-3 | fusion(x)    | model/dense/Relu
            1 | l | s8[2048] | 2048 | 2048 | 2-3 | fusion(h)    | model/dense/Sum
            1 | d | s8[2048] | 4096 | 2048 | 3-4 | fusion(h, l) | gradient_tape/model/dense/Mul
            """,
        )
    )
    ingest(graph, tmp_path / "run", jobs=1)
    compiled = plannable_compilation(StoredCompilation(graph, "run/f"))
    found = replan(compiled, [Checkpoint("dense")])
    kept = {
        value.instruction: (value.live_from, value.live_until) for value in found.program.values
    }
    assert kept["h"] == (1, 2)
    assert kept["d"] == (3, 4)


@pytest.mark.parametrize(
    ("names", "framework"),
    [
        (["run/module_0001.jit_f.cpu", "jit(f)/jvp()/mul", "jit(f)/add", None], "jax"),
        (["run/module_0001.SyncTensorsGraph.3583.cpu_after_optimizations", None], "pytorch"),
        (["XLA_Args", "gradient_tape/dense/MatMul"], "tensorflow"),
        (["run/module_0001.main", "add"], None),
    ],
)
def test_the_framework_is_known_by_op_names_and_by_the_name_of_the_module(names, framework):
    assert framework_of(names) == framework
