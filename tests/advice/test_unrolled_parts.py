"""`advise` names unrolled loops, of which a CPU keeps or recomputes all parts at once."""

from dataclasses import replace
from fractions import Fraction

import pytest

from xlagraph.advice.causes.unrolled_parts import (
    kept_by_unrolled_parts,
    unrolled_checkpoints,
)
from xlagraph.planner.edits.recomputing import RecomputeInLoop
from xlagraph.planner.edits.resizing import Scale

BACKWARD = "jit(f)/transpose(jvp(layer_{0}))/checkpoint"
LAYERS = range(4)


def layers(programs, *, again="{0}/rematted_computation/tanh @ f.py:3", back=BACKWARD, loop=None):
    """Return a program of equal layers, whose values `again` are all recomputed before `back`."""
    rows = ""
    for n in LAYERS:
        scope = BACKWARD.format(n)
        forward, later = f"jit(f)/jvp(layer_{n})/add @ f.py:3", f"{back.format(n)}/add @ f.py:3"
        computed = again.format(scope, "abcd"[n], 3 + n % 2, n % 2)
        rows += f"""
        1 | kept.{n} | f32[64] | {8192 + 256 * n} | 256 | 1-9 | tanh(x) | {forward}
        1 | again.{n} | f32[256] | {1024 * n} | 1024 | 3-8 | tanh(kept.{n}) | {computed}
        1 | back.{n} | f32[256] | {4096 + 1024 * n} | 1024 | 5-9 | add(again.{n}) | {later}
        """
    results = ", ".join(f"back.{layer}" for layer in LAYERS)
    program = programs(
        "0 | 256 | parameter 0, shape |f32[64]| at ShapeIndex {}\n1 | 9472 | preallocated-temp",
        f"""
        0 | x | f32[64] | 0 | 256 | 0-10 | parameter(0)
        {rows}
        1 | grad | f32[64] | 9216 | 256 | 9-10 | reduce({results})
        """,
    )
    for name, known in list(program.instructions.items()):
        if name.startswith("again"):
            program.instructions[name] = known._replace(loop=loop)
    program.compilation = replace(program.compilation, platform="cpu")
    return program


def test_equal_values_that_checkpoints_recompute_at_once_are_named(programs):
    (cause,) = unrolled_checkpoints(layers(programs))
    assert {row["value"] for row in cause.rows} >= {f"again.{layer}" for layer in LAYERS}
    assert not any(str(row["value"]).startswith("kept") for row in cause.rows)
    assert isinstance(cause.edit, Scale)
    assert set(cause.edit.kept_by_label.values()) == {Fraction(1, len(LAYERS))}
    assert "jax.lax.scan(jax.checkpoint(body)" in cause.remedies["jax"]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"loop": "while.1"}, id="a loop recomputes one part after another"),
        pytest.param({"again": "jit(f)/jvp(layer)/tanh @ f.py:3"}, id="nothing is recomputed"),
        pytest.param({"again": "{0}/rematted_computation/{1}"}, id="of other ops"),
        pytest.param(
            {"again": "{0}/rematted_computation/tanh @ f.py:{2}"}, id="two lines in each of two"
        ),
        pytest.param({"again": "{0}/rematted_computation/n_{3}/tanh @ f.py:3"}, id="two in each"),
    ],
)
def test_parts_in_a_loop_or_of_other_ops_are_not_named(programs, changes):
    assert not list(unrolled_checkpoints(layers(programs, **changes)))


def test_barriers_order_what_is_recomputed(programs):
    program = layers(programs)
    program.compilation = replace(program.compilation, platform="gpu")
    assert not list(unrolled_checkpoints(program))


KEPT = tuple(f"kept.{n}" for n in LAYERS)


def test_activations_of_equal_layers_need_a_loop_with_a_checkpoint(programs):
    program = layers(programs)
    program.recomputes_early = True
    cause = kept_by_unrolled_parts(program, KEPT)
    assert cause is not None
    assert [row["value"] for row in cause.rows] == [*KEPT]
    others = [each for n in LAYERS for each in (f"again.{n}", f"back.{n}")]
    assert isinstance(cause.edit, RecomputeInLoop)
    assert (cause.edit.labels, cause.edit.part_count) == (KEPT, len(LAYERS))
    # what the optimizer reads is stacked: `grad`, which has no op name, reads `back`
    assert sorted(cause.edit.others) == [each for each in others if each.startswith("again")]
    assert "jax.lax.scan(jax.checkpoint(body)" in cause.remedies["jax"]


@pytest.mark.parametrize(
    ("labels", "is_early"),
    [
        pytest.param(KEPT, False, id="checkpoints are enough in this order"),
        pytest.param(KEPT[:3], True, id="three layers"),
        pytest.param(("kept.0", "back.0", "again.0"), True, id="one layer"),
    ],
)
def test_a_checkpoint_around_each_part_may_be_enough(programs, labels, is_early):
    program = layers(programs)
    program.recomputes_early = is_early
    assert kept_by_unrolled_parts(program, labels) is None


def test_no_checkpoint_of_a_layer_covers_the_backward_pass_of_its_own_derivative(programs):
    program = layers(programs)
    program.recomputes_early = True
    for label in KEPT:
        value = program.by_label[label]
        name = "jit(f)/jvp(vmap(jvp(layer)))/add"
        program.by_label[label] = value._replace(op_name=name, attributed_op_name=name)
    assert kept_by_unrolled_parts(program, KEPT) is None


CALLED = "jit(f)/jvp(layer_0)/tanh @ f.py:3"


@pytest.mark.parametrize(
    ("again", "back", "is_named"),
    [
        pytest.param(CALLED, BACKWARD, True, id="many calls"),
        pytest.param("jit(f)/jvp(layer_0)/tanh @ f.py:{2}", BACKWARD, False, id="two of each"),
        # `grad`, outside of the backward pass, reduces `back` of each call
        pytest.param(CALLED, "jit(f)/transpose(jvp(layer_0))/checkpoint", False, id="gradients"),
    ],
)
def test_a_layer_that_is_called_many_times_is_one_part_in_each_call(
    programs, again, back, is_named
):
    program = layers(programs, again=again, back=back)
    program.recomputes_early = True
    cause = kept_by_unrolled_parts(program, [f"again.{n}" for n in LAYERS])
    assert (cause is not None) == is_named


def test_old_jax_names_an_inner_function_by_its_first_call(programs):
    program = layers(programs, again="jit(f)/jit(main)/jvp(layer_0)/jit(relu)/max @ f.py:3")
    program.recomputes_early = True
    cause = kept_by_unrolled_parts(program, [*KEPT, *(f"again.{n}" for n in LAYERS)])
    assert cause is not None


def test_a_loop_would_stack_the_gradients_of_each_example(programs):
    program = layers(programs, back="jit(f)/vmap(transpose(jvp(layer_{0})))/checkpoint")
    program.recomputes_early = True
    # `grad`, outside of the backward pass, reduces `back` of each part
    assert kept_by_unrolled_parts(program, KEPT) is None


def test_a_loop_computes_what_each_part_reads_of_an_input_in_its_iteration(programs):
    weights = "".join(f"{n} | 64 | parameter {n}, shape |f32[16]|\n" for n in LAYERS)
    rows = "".join(
        f"""
        {n} | w.{n}   | f32[16] | 0             | 64  | 0-9 | parameter({n})
        4 | all.{n}   | f32[64] | {256 * n}     | 256 | 1-9 | all-gather(w.{n}) | jit(f)/jvp(h)
        4 | h.{n}     | f32[8]  | {1024 + 32 * n} | 32  | {2 + n}-9 | dot(all.{n}) | jit(f)/jvp(h)
        4 | grad.{n}  | f32[8]  | {1152 + 32 * n} | 32  | {6 + n}-9 | dot(h.{n}, all.{n})
        """
        for n in LAYERS
    )
    program = programs(f"{weights}4 | 1280 | preallocated-temp", rows)
    edit = RecomputeInLoop(tuple(f"all.{n}" for n in LAYERS), len(LAYERS))
    by_id = edit.apply(program.compilation, program.program).program.by_id
    begins = [by_id[program.by_label[f"all.{n}"].value_id].live_from for n in LAYERS]
    reads = [by_id[program.by_label[f"h.{n}"].value_id].live_from for n in LAYERS]
    assert begins == reads
