"""`advise` names what crosses the borders of a program: stacks, gradients, constants, float64."""

from dataclasses import replace

import pytest

from tests.advice.small_compilations import share_one_buffer_set
from xlagraph.advice.causes.boundaries import (
    large_constants,
    returned_gradients,
    returned_stacks,
    wide_floats,
)
from xlagraph.advice.causes.fragmented_blocks import fragmented_blocks
from xlagraph.advice.causes.reduced_stacks import reduced_stacks
from xlagraph.advice.causes.returned_values import (
    gradients_of_frozen,
    repeated_results,
    returned_forward_values,
    unchanged_inputs,
    without_new_value,
)
from xlagraph.advice.causes.unused_donations import needed_after_gradients
from xlagraph.planner.edits.edit import replan
from xlagraph.planner.edits.returning import KeepInside
from xlagraph.queries.catalogue.query_files import load_catalogue

GRADIENT = """
    0 | w   | f32[1024] | 0 | 4096 | 0-3 | parameter(0)
    1 | g   | f32[1024] | 0 | 4096 | 1-3 | multiply(w) | jit(f)/transpose(jvp())/mul
    2 | new | f32[1024] | 0 | 4096 | 2-3 | subtract({}) | jit(f)/sub
"""
PARTS = """
    0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
    1 | 4096 | maybe-live-out
    2 | 4096 | maybe-live-out
"""


def test_a_gradient_is_returned_next_to_the_parameter_that_it_updates(returning):
    program = returning(PARTS, GRADIENT.format("w, g"), "g", "new")
    (cause,) = returned_gradients(program)
    assert [row["value"] for row in cause.rows] == ["g"]
    assert cause.doubt == "only if the caller does not need it, which a dump does not show"


COPIED = """
    0 | w    | f32[1024] | 0 | 4096 | 0-4 | parameter(0)
    3 | g    | f32[1024] | 0 | 4096 | 1-3 | multiply(w) | jit(f)/transpose(jvp())/mul
    1 | copy | f32[1024] | 0 | 4096 | 2-4 | transpose(g)
    2 | new  | f32[1024] | 0 | 4096 | 3-4 | subtract(w, g) | jit(f)/sub
"""


def test_the_gradient_of_an_updated_parameter_may_be_returned_as_a_copy(returning):
    program = returning(PARTS + "    3 | 4096 | preallocated-temp\n", COPIED, "copy", "new")
    (cause,) = returned_gradients(program)
    assert [row["value"] for row in cause.rows] == ["copy"]
    assert not list(gradients_of_frozen(program))


MOVED = """
    0 | w     | f32[1024] | 0    | 4096 | 0-5 | parameter(0)
    3 | g     | f32[1024] | 0    | 4096 | 1-3 | dot() | jit(f)/transpose(jvp())/mul
    1 | moved | f32[1024] | 0    | 4096 | 2-5 | copy-start(g)
    3 | sub   | f32[1024] | 4096 | 4096 | 3-4 | subtract(w, g) | jit(f)/sub
    2 | new   | f32[1024] | 0    | 4096 | 4-5 | copy-start(sub)
"""


def test_gradients_and_parameters_may_be_moved_from_the_memory_where_they_are_made(returning):
    program = returning(
        PARTS + "    3 | 8192 | color 1, preallocated-temp\n", MOVED, "moved", "new"
    )
    (cause,) = returned_gradients(program)
    assert [row["value"] for row in cause.rows] == ["moved"]


def test_a_moved_gradient_of_an_updated_parameter_is_not_that_of_a_frozen_one(returning):
    frozen = "4 | 4096 | parameter 1, shape |f32[1024]| at ShapeIndex {}\n"
    program = returning(
        PARTS + "    3 | 8192 | color 1, preallocated-temp\n    " + frozen,
        MOVED + "    4 | kept | f32[1024] | 0 | 4096 | 0-5 | parameter(1)\n",
        "moved",
        "new",
    )
    assert not list(gradients_of_frozen(program))


@pytest.mark.parametrize(("read", "gone"), [("w, g", {"copy"}), ("w", {"copy", "g"})])
def test_what_is_computed_for_a_result_alone_is_not_made_without_it(returning, read, gone):
    values = COPIED.replace("subtract(w, g)", f"subtract({read})")
    program = returning(PARTS + "    3 | 4096 | preallocated-temp\n", values, "copy", "new")
    kept = KeepInside(frozenset({program.by_label["copy"].value_id}))
    after = replan(program.compilation, [kept])
    labels = {program.values[each].label for each in after.program.by_id}
    assert set(program.by_label) - labels == gone


def test_gradients_alone_are_what_the_caller_asks_for(returning):
    program = returning(PARTS, GRADIENT.format("w"), "g", "new")
    assert not list(returned_gradients(program))


def test_a_result_that_is_not_returned_ends_with_its_last_reader(returning):
    program = returning(PARTS, GRADIENT.format("w, g"), "g", "new")
    gradient = program.by_label["g"].value_id
    after = replan(program.compilation, [KeepInside(frozenset({gradient}))])
    assert after.program.by_id[gradient].live_until == 2
    unread = KeepInside(frozenset({program.by_label["new"].value_id}))
    assert (
        program.by_label["new"].value_id not in replan(program.compilation, [unread]).program.by_id
    )


@pytest.mark.parametrize(
    ("op", "named"),
    [
        pytest.param("", [("table", "model.py", 7)], id="closed over"),
        pytest.param("| jit(f)/scatter", [], id="computed by the compiler"),
    ],
)
def test_a_large_constant_is_named_with_the_line_that_reads_it(returning, op, named):
    program = returning(
        "0 | 65536 | constant\n1 | 64 | maybe-live-out",
        f"""
        0 | table | s8[65536] | 0 | 65536 | 0-2 | constant() {op}
        1 | out   | s8[64]    | 0 | 64    | 1-2 | reduce(table) | jit(f)/sum @ model.py:7
        """,
        "out",
    )
    rows = [row for cause in large_constants(program) for row in cause.rows]
    assert [(row["value"], row["userFile"], row["userLine"]) for row in rows] == named


def test_float64_is_named_and_float32_is_not(returning):
    program = returning(
        "0 | 12288 | preallocated-temp",
        """
        0 | a | f64[1024] | 0    | 8192 | 0-1 | iota()
        0 | b | f32[1024] | 8192 | 4096 | 1-1 | convert(a)
        """,
    )
    (cause,) = wide_floats(program)
    assert [row["value"] for row in cause.rows] == ["a"]
    assert not list(reduced_stacks(program))
    program.compilation = replace(program.compilation, platform="tpu")
    (of_tpu,) = wide_floats(program)
    # values of f32 may be halves of it there
    assert str(of_tpu.doubt).startswith(f"{cause.doubt}; a TPU")


def test_the_values_around_the_largest_hole_are_named_with_their_sizes(returning):
    program = returning(
        "0 | 10240 | preallocated-temp",
        """
        0 | low  | f32[1024] | 0    | 4096 | 0-3 | iota()
        0 | gone | f32[512]  | 4096 | 2048 | 1-1 | iota()
        0 | high | f32[1024] | 6144 | 4096 | 1-3 | iota()
        """,
    )
    advice = load_catalogue()["reuse/fragmentation"].advice
    row = {"allocation": 0, "memorySpace": 0, "sizeBytes": 10240, "packingBytes": 2048}
    (cause,) = fragmented_blocks(program, [{**row, "physicalPeakStep": 2}], advice)
    assert [(each["value"], each["reason"]) for each in cause.rows] == [
        ("low", "4.0 KiB below a hole of 2.0 KiB at step 2, live from 0 to 3"),
        ("high", "4.0 KiB above a hole of 2.0 KiB at step 2, live from 1 to 3"),
    ]


STEP = """
    0 | w    | f32[1024] | 0 | 4096 | 0-4 | parameter(0)
    1 | old  | f32[512]  | 0 | 2048 | 0-4 | parameter(1)
    2 | acts | f32[256]  | 0 | 1024 | 1-4 | multiply(w) | jit(f)/jvp()/mul
    3 | g    | f32[1024] | 0 | 4096 | 2-4 | multiply(acts) | jit(f)/transpose(jvp())/mul
    4 | d    | f32[512]  | 0 | 2048 | 2-4 | multiply(acts) | jit(f)/transpose(jvp())/mul
    5 | new  | f32[512]  | 0 | 2048 | 3-4 | subtract({}) | jit(f)/sub
"""
BLOCKS = """
    0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
    1 | 2048 | parameter 1, shape |f32[512]| at ShapeIndex {}
    2 | 1024 | maybe-live-out
    3 | 4096 | maybe-live-out
    4 | 2048 | preallocated-temp
    5 | 2048 | maybe-live-out
"""


@pytest.mark.parametrize(
    ("read", "named"),
    [("old, d", [["acts"], ["g"]]), ("old", [[], []])],  # without a gradient nothing is updated
)
def test_a_step_that_updates_needs_no_activations_and_no_gradients_of_others(
    returning, read, named
):
    program = returning(BLOCKS, STEP.format(read), "acts", "g", "new")
    found = [
        [row["value"] for cause in causes(program) for row in cause.rows]
        for causes in (returned_forward_values, gradients_of_frozen)
    ]
    assert found == named
    assert needed_after_gradients(program) == {"w"}  # only its gradient could take its bytes


@pytest.mark.parametrize("place", [pytest.param(1, id="donated"), pytest.param(5, id="own")])
def test_an_update_in_the_bytes_of_an_input_may_be_fused_with_its_gradient(returning, place):
    fused = "5 | new  | f32[512]  | 0 | 2048 | 3-4 | subtract(old, d) | jit(f)/transpose(jvp())/mul"
    values = STEP.format("old, d").replace(
        "5 | new  | f32[512]  | 0 | 2048 | 3-4 | subtract(old, d) | jit(f)/sub",
        fused.replace("5 |", f"{place} |", 1),
    )
    program = returning(BLOCKS, values.replace("0 | 2048 | 0-4", "0 | 2048 | 0-3"), "acts", "new")
    found = [row["value"] for cause in returned_forward_values(program) for row in cause.rows]
    assert found == (["acts"] if place == 1 else [])


def test_an_update_that_is_fused_with_its_gradient_is_no_gradient(returning):
    # the fusion has the op name of the product that gives the gradient
    fused = STEP.format("old, d").replace("multiply(acts) |", "fusion(acts, w) |", 1)
    program = returning(BLOCKS, fused, "acts", "g", "new")
    assert list(gradients_of_frozen(program)) == []


def test_a_gradient_of_an_example_that_pytorch_returns_is_none_of_the_forward_pass(returning):
    # the categories of results tell no pass
    step = STEP.format("old, d").replace("multiply(acts)", "multiply(w)")
    step = step.replace("1-4 | multiply(w)", "3-4 | multiply(d)", 1)
    program = returning(BLOCKS, step, "acts", "g", "new")
    values = program.compilation.values
    names = {"acts": "aten__mul", "g": "aten__matmul", "d": "aten__mm", "new": "aten__sub"}
    categories = {"acts": "output", "g": "output", "d": "backward", "new": "output"}
    for value in [each for each in values.values() if each.label in names]:
        op = names[value.label]
        values[value.value_id] = value._replace(
            op_name=op, attributed_op_name=op, category=categories[value.label]
        )
    assert program.framework == "pytorch"
    assert list(returned_forward_values(program)) == []


def test_a_cast_of_an_updated_parameter_is_no_value_of_the_forward_pass(returning):
    cast = "6 | cast | bf16[512] | 0 | 1024 | 4-5 | convert(new) | jit(f)/convert_element_type\n"
    program = returning(
        f"{BLOCKS}6 | 1024 | maybe-live-out\n",
        f"{STEP.format('old, d')}{cast}",
        *("acts", "g", "new", "cast"),
    )
    (cause,) = returned_forward_values(program)
    assert [row["value"] for row in cause.rows] == ["acts"]


def test_a_gradient_that_is_gathered_from_all_devices_is_no_value_of_the_forward_pass(returning):
    whole = "6 | all | f32[4096] | 0 | 16384 | 4-5 | all-gather(g)\n"
    blocks = BLOCKS.replace("3 | 4096 | maybe-live-out", "3 | 4096 | preallocated-temp")
    program = returning(
        f"{blocks}6 | 16384 | maybe-live-out\n",
        f"{STEP.format('old, d')}{whole}",
        *("acts", "all", "new"),
    )
    (cause,) = returned_forward_values(program)
    assert [row["value"] for row in cause.rows] == ["acts"]


def test_what_a_checkpoint_recomputes_may_be_merged_with_the_forward_pass(returning):
    merged = "jit(f)/transpose(jvp())/checkpoint/rematted_computation/mul"
    step = STEP.replace("acts | f32[256]", "all  | f32[256]").replace("jit(f)/jvp()/mul", merged)
    program = returning(
        f"{BLOCKS}6 | 1024 | maybe-live-out\n",
        step.replace("multiply(acts)", "multiply(all)").format("old, d")
        + "6 | acts | f32[256] | 0 | 1024 | 2-4 | add(all) | jit(f)/jvp()/add\n",
        *("acts", "g", "new"),
    )
    (cause,) = returned_forward_values(program)
    assert [row["value"] for row in cause.rows] == ["acts"]


@pytest.mark.parametrize(("opcode", "named"), [("copy", ["out"]), ("negate", [])])
def test_a_result_that_copies_an_input_is_what_the_caller_has(returning, opcode, named):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | maybe-live-out
        """,
        f"""
        0 | w   | f32[1024] | 0 | 4096 | 0-1 | parameter(0)
        1 | out | f32[1024] | 0 | 4096 | 1-1 | {opcode}(w)
        """,
        "out",
    )
    causes = list(unchanged_inputs(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named
    assert without_new_value(program) == ({"w"} if named else set())


@pytest.mark.parametrize(
    ("results", "named"),
    [
        pytest.param(("new", "one"), ["one"], id="next to the value"),
        pytest.param(("one", "two"), ["two"], id="two copies: one is needed"),
        pytest.param(("new", "view"), ["view"], id="in another shape"),
        pytest.param(("one",), [], id="once"),
    ],
)
def test_a_result_that_is_returned_twice_is_copied(returning, results, named):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | maybe-live-out
        2 | 4096 | maybe-live-out
        3 | 4096 | maybe-live-out
        4 | 4096 | maybe-live-out
        """,
        """
        0 | w    | f32[1024]  | 0 | 4096 | 0-1 | parameter(0)
        1 | new  | f32[1024]  | 0 | 4096 | 1-5 | negate(w)
        2 | one  | f32[1024]  | 0 | 4096 | 2-5 | copy(new)
        3 | two  | f32[1024]  | 0 | 4096 | 3-5 | copy(new)
        4 | view | f32[8,128] | 0 | 4096 | 4-5 | copy(new)
        """,
        *results,
    )
    assert [row["value"] for each in repeated_results(program) for row in each.rows] == named


@pytest.mark.parametrize(
    ("opcode", "carry", "first", "named"),
    [
        ("transpose", "f32[128]", "iota()", ["s"]),
        ("transpose", "f32[128]", "copy(x)", []),  # a cache, which the caller passes again
        ("sort", "f32[128]", "iota()", []),
        ("transpose", "s32[128]", "iota()", ["s"]),
        ("transpose", "u32[128]", "iota()", []),  # a key is no carry, nor is a counter
        ("transpose", "s32[]", "iota()", []),
    ],
)
def test_a_stack_may_be_returned_in_another_order_of_dimensions(
    returning, opcode, carry, first, named
):
    program = returning(
        "0 | 16384 | preallocated-temp\n1 | 8192 | maybe-live-out\n"
        "2 | 8192 | parameter 0, shape |f32[16,128]| at ShapeIndex {}",
        f"""
        2 | x   | f32[16,128] | 0    | 8192 | 0-3 | parameter(0)
        0 | w{{1}} (phi) | {carry} | 0  | 512  | 0-3 | while()
        0 | b   | f32[16,128] | 4096 | 8192 | 0-1 | {first}
        0 | s   | f32[16,128] | 4096 | 8192 | 1-3 | fusion(w{{1}})
        1 | out | f32[128,16] | 0    | 8192 | 2-3 | {opcode}(s)
        """,
        "out",
    )
    share_one_buffer_set(program, "b", "s")
    stack = program.by_label["s"]._replace(stack_loop="w", stack_turns=16)
    program.compilation.values[stack.value_id] = stack
    causes = list(returned_stacks(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named


@pytest.mark.parametrize(
    ("carry", "named"),
    [
        ("f32[128]", ["acts"]),  # another cause names the stack
        pytest.param("u32[128]", ["out", "acts"], id="jax.lax.map"),
    ],
)
def test_a_returned_stack_in_another_order_is_one_cause_only(returning, carry, named):
    program = returning(
        f"{BLOCKS}6 | 8704 | preallocated-temp\n7 | 8192 | maybe-live-out\n",
        STEP.format("old, d")
        + f"""
    6 | loop{{1}} (phi) | {carry} | 8192 | 512 | 0-3 | while()
    6 | s   | f32[16,128] | 0 | 8192 | 1-3 | fusion(w) | jit(f)/jvp()/while/body/mul
    7 | out | f32[128,16] | 0 | 8192 | 2-4 | transpose(s) | jit(f)/jvp()/transpose
""",
        *("acts", "g", "new", "out"),
    )
    stack = program.by_label["s"]._replace(stack_loop="loop", stack_turns=16)
    program.compilation.values[stack.value_id] = stack
    (cause,) = returned_forward_values(program)
    assert [row["value"] for row in cause.rows] == named


def test_the_frozen_parameters_next_to_updated_ones_are_needed_afterwards(returning):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | parameter 1, shape |f32[1024]| at ShapeIndex {}
        2 | 4096 | maybe-live-out
        3 | 64   | preallocated-temp
        """,
        """
        0 | old | f32[1024] | 0 | 4096 | 0-4 | parameter(0)
        1 | ref | f32[1024] | 0 | 4096 | 0-4 | parameter(1)
        3 | sum | f32[16]   | 0 | 64   | 1-2 | reduce(ref)
        2 | new | f32[1024] | 0 | 4096 | 2-4 | fusion(old, sum)
        """,
        "new",
    )
    assert without_new_value(program) == {"ref"}
