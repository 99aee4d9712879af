"""A checkpoint keeps what another layer, or another part, reads, and recomputes the rest."""

import pytest

from tests.advice.small_compilations import compilation, facts
from tests.planner.small_programs import value
from xlagraph.planner.edits.recomputing import Checkpoint, Recompute


def step(*op_names):
    """A chain of forward values, each computed from the one before and read by the backward pass.

    The backward pass reads the last one first.
    """
    count = len(op_names)
    values = [
        value(number, number, 2 * count - number, 64, reads=(number - 1,) if number else ())
        for number in range(count)
    ]
    backward = [
        value(count + number, 2 * count - number, 2 * count, 8, reads=(number,))
        for number in range(count)
    ]
    known = [facts(number, "f32[16]", "add", name) for number, name in enumerate(op_names)]
    gradients = [
        facts(count + number, "f32[2]", "add", "jit(f)/transpose(jvp())/mul")
        for number in range(count)
    ]
    return compilation((*values, *backward), (*known, *gradients))


@pytest.mark.parametrize(
    ("op_names", "kept", "kept_at_least"),
    [
        (("jvp(net)/a/dot", "jvp(net)/a/tanh", "jvp(net)/b/dot", "jvp(net)/b/tanh"), {1}, {2}),
        (
            ("jvp()/dot", "jvp()/tanh", "jvp()/dot", "jvp()/tanh"),
            {0, 1, 2},
            {2},
        ),  # nothing says where a layer begins
        (("jvp(net)/a/dot", "jvp(net)/a/tanh"), {0}, set()),
    ],
)
def test_checkpoints_keep_what_another_layer_reads_or_what_halves_the_values(
    op_names, kept, kept_at_least
):
    compiled = step(*(f"jit(f)/{name}" for name in op_names))
    labels = tuple(f"v{number}" for number in range(len(op_names)))
    found = Recompute(labels).apply(compiled, compiled.program)
    assert found.most is not None
    ends = {
        name: {
            number
            for number in range(len(op_names))
            if program.by_id[number].live_until == compiled.program.by_id[number].live_until
        }
        for name, program in (("least", found.program), ("most", found.most))
    }
    assert ends == {"least": kept_at_least, "most": kept}


@pytest.mark.parametrize(("key", "are_kept"), [("u32[2]", False), ("f32[2]", True)])
def test_masks_made_of_a_key_belong_to_the_layer_that_reads_them(key, are_kept):
    layers = range(4)
    masks = [value(1 + each, 1 + each, 20 - each, 8, reads=(0,)) for each in layers]
    sums = [
        value(5 + each, 5 + each, 20 - each, 64, reads=(1 + each, 4 + each if each else 30))
        for each in layers
    ]
    backward = [
        value(17 + each, 20 - each, 24, 4, reads=(1 + each, 5 + each)) for each in reversed(layers)
    ]
    known = [facts(0, key, "parameter")]
    known += [facts(1 + each, "pred[8]", "rng", "jit(f)/jvp()/lt") for each in layers]
    known += [facts(5 + each, "f32[16]", "add", "jit(f)/jvp()/add") for each in layers]
    known += [facts(17 + each, "f32[1]", "add", "jit(f)/transpose(jvp())/mul") for each in layers]
    known.append(facts(30, "f32[16]", "parameter"))
    inputs = [value(each, 0, 24, is_stored=True) for each in (0, 30)]
    made = compilation((*inputs, *masks, *sums, *backward), known)
    labels = tuple(f"v{each}" for each in range(1, 9))
    after = Recompute(labels).apply(made, made.program).program.by_id
    kept = {each for each in range(1, 5) if after[each].live_until == 21 - each}
    assert bool(kept) == are_kept


def test_what_a_recomputed_value_is_computed_from_is_recomputed_before_it():
    compiled = step("jit(f)/jvp()/dot", "jit(f)/jvp()/tanh")
    found = Recompute(("v0", "v1")).apply(compiled, compiled.program)
    again = found.program.values[len(compiled.program.values) :]
    assert [(each.live_from, each.live_until) for each in again] == [(3, 4), (3, 3)]


@pytest.mark.parametrize(("opcode", "recomputed"), [("while", 0), ("tanh", 1)])
def test_what_loops_of_both_passes_read_is_kept_unless_the_loop_is_recomputed(opcode, recomputed):
    values = (
        value(0, 0, 5, 64),
        value(1, 1, 2, 8, reads=(0,)),
        value(2, 5, 6, 8, reads=(0, 1)),
    )
    known = (
        facts(0, "f32[16]", "gather", "jit(f)/jvp(embed)/gather"),
        facts(1, "f32[2]", opcode, f"jit(f)/jvp()/{opcode}"),
        facts(2, "f32[2]", opcode, f"jit(f)/transpose(jvp())/{opcode}"),
    )
    compiled = compilation(values, known)
    assert Recompute(("v0",)).apply(compiled, compiled.program).recomputed_count == recomputed


def test_a_checkpoint_in_a_loop_keeps_what_an_iteration_reads():
    loop, forward = {"instruction": "loop", "computation": "main"}, "jit(f)/jvp()/while/body/mul"
    values = (
        value(0, 0, 3, 160, computation="main"),
        value(1, 1, 3, 160, computation="main"),
        value(2, 2, 3, 160, buffer_set=2, is_in_entry=False, computation="body", reads=(2, 3)),
        value(3, 1, 2, 16, is_in_entry=False, computation="body", reads=(0,)),
        value(4, 3, 9, 160, buffer_set=2, **loop),
        value(5, 9, 9, 16, is_in_entry=False, computation="back", reads=(4,)),
    )
    known = (
        facts(0, "f32[10,4]", "dot", "jit(f)/jvp()/dot"),
        facts(1, "f32[10,4]", "dot", "jit(f)/jvp()/dot"),
        facts(2, "f32[10,4]", "fusion", forward, stack_loop="loop"),
        facts(3, "f32[4]", "exponential", forward),
        facts(4, "f32[10,4]", "while", "jit(f)/jvp()/while"),
        facts(5, "f32[4]", "multiply", "jit(f)/transpose(jvp())/while/body/mul"),
    )
    compiled = compilation(values, known)
    found = Recompute(("v4",)).apply(compiled, compiled.program)
    ends = {each.value_id: each.live_until for each in found.program.values}
    assert (ends[0], ends[1]) == (9, 3)  # nothing that is stacked is computed from the other one


def test_a_checkpoint_may_save_nothing_where_values_are_recomputed_early():
    compiled = step(*(f"jit(f)/jvp(net)/{name}" for name in ("dot", "tanh", "add")))
    early, late = (
        Checkpoint("net", is_early).apply(compiled, compiled.program) for is_early in (True, False)
    )
    assert early.program == late.program
    assert early.most is not None
    assert early.most.values == compiled.program.values
    assert late.most is not None
    assert late.most.values != compiled.program.values
    assert "long before they are read" in early.assumptions[0]
    assert "one by one where they are read" in late.assumptions[0]


@pytest.mark.parametrize("copied", [1, 0])
def test_a_checkpoint_keeps_the_copy_of_its_result_that_the_backward_pass_reads(copied):
    values = (
        value(0, 0, 7, 64),
        value(1, 1, 3, 64, reads=(0,)),
        value(2, 2, 7, 64, reads=(copied,)),
        value(3, 3, 4, 64, reads=(1,)),
        value(4, 7, 7, 64, reads=(0, 2)),
    )
    name = "jit(f)/jvp(net)/a/mul"
    known = [
        facts(0, "f32[16]", "exponential", "jit(f)/jvp(net)/a/exp"),
        facts(1, "f32[16]", "multiply", name),
        facts(2, "f32[16]", "copy", None, attributed_op_name=name),
        facts(3, "f32[16]", "add", "jit(f)/jvp(net)/b/add"),
        facts(4, "f32[16]", "multiply", "jit(f)/transpose(jvp(net))/a/mul"),
    ]
    compiled = compilation(values, known)
    found = Checkpoint("a").apply(compiled, compiled.program)
    assert found.value_ids == ({0} if copied else {0, 2})
