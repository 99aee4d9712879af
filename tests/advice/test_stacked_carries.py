"""`advise` names long loops that keep their carry of every iteration for the backward pass."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.advice.small_compilations import share_one_buffer_set, with_dependences, with_values
from xlagraph.advice.causes.forced_copies import forced_copies
from xlagraph.advice.causes.recomputable_values import is_recomputable, is_stacked_carry
from xlagraph.advice.causes.stacked_carries import stacked_carries
from xlagraph.planner.edits.resizing import Scale

LOOP = """
0 | z          | f32[{0},4]  | 4096 | 2048 | 0-5 | broadcast()
0 | p{{0}} (phi) | f32[4]      | 0    | 16   | 1-4 | parameter(0)
0 | s          | f32[{0},4]  | 4096 | 2048 | 2-5 | fusion(p{{0}}) | jit(f)/jvp()/while/body/dynamic_update_slice
0 | w{{1}}       | f32[{0},4]  | 4096 | 2048 | 3-5 | while(z) | jit(f)/jvp()/while @ f.py:7
0 | t          | f32[{0},4]  | 8192 | 2048 | 2-5 | fusion() | jit(f)/jvp()/while/body/dynamic_update_slice
0 | w{{2}}       | f32[{0},4]  | 8192 | 2048 | 3-5 | while(z) | jit(f)/jvp()/while @ f.py:7
0 | g          | f32[4]      | 64   | 16   | 5-5 | fusion(w{{1}}, w{{2}}) | jit(f)/transpose(jvp())/while/body/mul
"""  # noqa: E501


def looped(programs, turns, *, around=None, inside="s", reserved_bytes=0):
    """Return a loop that stacks its carry and another value, which a backward loop reads."""
    program = programs("0 | 12288 | preallocated-temp", LOOP.format(turns))
    program.compilation = replace(program.compilation, reserved_bytes={0: reserved_bytes})
    share_one_buffer_set(program, "z", "s", "w{1}")
    share_one_buffer_set(program, "t", "w{2}")
    known, values = program.instructions, program.compilation.values
    known["p"] = known["p"]._replace(loop="w")
    known["w"] = known["w"]._replace(loop=around)
    known[inside] = known[inside]._replace(loop="w", opcode="while" if inside != "s" else "fusion")
    for label, element in (("s", "p"), ("t", "other")):
        stack = program.by_label[label]
        values[stack.value_id] = stack._replace(
            stack_loop="w", stack_turns=turns, stack_element=element
        )
    loops = [
        each._replace(instruction="w") if values[each.value_id].opcode == "while" else each
        for each in program.program.values
    ]
    inner = {program.by_label[label].value_id for label in ("s", "t")}
    with_values(
        program,
        [each._replace(is_in_entry=each.value_id not in inner) for each in loops],
    )
    return program


def test_two_nested_loops_keep_the_carries_of_both_and_other_values_of_the_inner_one(programs):
    (cause,) = stacked_carries(looped(programs, 128))
    assert isinstance(cause.edit, Scale)
    kept = dict(cause.edit.kept_by_label)
    assert (kept["s"], kept["t"]) == (Fraction(8 + 16, 128), Fraction(16, 128))
    assert {row["value"] for row in cause.rows} == {"z", "t"}
    assert str(cause.rows[0]["reason"]).startswith(
        "kept for all 128 iterations of the loop at f.py:7"
    )
    assert "(8, 16, ...)" in cause.remedies["jax"]


@pytest.mark.parametrize(
    ("turns", "how"),
    [
        (32, {}),
        (128, {"around": "outer"}),
        (128, {"inside": "z"}),
        (128, {"reserved_bytes": 12288}),
    ],
)
def test_short_nested_and_small_loops_are_not_named(programs, turns, how):
    assert list(stacked_carries(looped(programs, turns, **how))) == []


@pytest.mark.parametrize(
    ("maker", "merged", "kinds"),
    [
        ("broadcast", "parameter(0)", []),  # the compiler merges the zeros of two states
        ("sort", "parameter(0)", ["the state of a loop"]),
        ("sort", "conditional()", ["the result of a conditional"]),
    ],
)
def test_states_that_begin_as_the_same_zeros_have_no_reader_of_an_old_value(
    programs, maker, merged, kinds
):
    program = programs(
        "0 | 16384 | preallocated-temp",
        f"""
        0 | z          | f32[1024] | 0     | 4096 | 0-5 | {maker}()
        0 | k          | f32[1024] | 4096  | 4096 | 1-4 | copy(z)
        0 | p{{0}} (phi) | f32[1024] | 4096  | 4096 | 2-4 | {merged}
        0 | s          | f32[1024] | 4096  | 4096 | 3-4 | scatter(p{{0}}) | jit(f)/scatter @ f.py:4
        0 | g          | f32[1024] | 8192  | 4096 | 4-5 | scatter(z) | jit(f)/scatter @ f.py:9
        """,
    )
    share_one_buffer_set(program, "k", "p{0}", "s")
    with_dependences(program, "z = sort()", "k = copy(z)", "s = scatter(k)", "g = scatter(z, s)")
    assert [cause.title for cause in forced_copies(program)] == [
        f"A reader of the old value forces a copy of {kind}" for kind in kinds
    ]


@pytest.mark.parametrize(
    ("loop", "results", "is_carry"), [("w", 1, True), ("inner", 1, False), ("w", 2, False)]
)
def test_a_stack_of_copies_of_a_carry_is_what_a_checkpoint_saves(programs, loop, results, is_carry):
    program = programs(
        "0 | 12288 | preallocated-temp",
        """
        0 | p{0} (phi) | f32[512]  | 0    | 2048 | 0-3 | parameter(0)
        0 | c          | f32[512]  | 2048 | 2048 | 1-3 | copy(p{0})
        0 | s          | f32[2048] | 4096 | 8192 | 2-3 | fusion(c)
        """,
    )
    stack = program.by_label["s"]._replace(stack_loop="w", stack_element="c")
    program.made_by["c"] = program.made_by["c"] * results  # of several, one has the stack's size
    program.instructions["p"] = program.instructions["p"]._replace(loop=loop)
    assert is_stacked_carry(program, stack) == is_carry


@pytest.mark.parametrize(("opcode", "is_carry"), [("select", True), ("tanh", False)])
@pytest.mark.parametrize("element", [None, "r"])
def test_a_fusion_stacks_the_carry_of_an_iteration_whatever_computes_the_next_one(
    programs, element, opcode, is_carry
):
    program = programs(
        "0 | 12288 | preallocated-temp",
        """
        0 | p{0} (phi) | f32[512]    | 0    | 2048 | 0-2 | parameter(0)
        0 | s          | f32[4,512]  | 4096 | 8192 | 1-2 | fusion(p{0})
        0 | r          | f32[512]    | 2048 | 2048 | 1-2 | custom-call(p{0})
        """,
    )
    stack = program.by_label["s"]._replace(stack_loop="w", stack_element=element)
    fused = (opcode, "broadcast", "bitcast", "dynamic-update-slice")
    program.instructions |= {
        "p": program.instructions["p"]._replace(loop="w"),
        "s": program.instructions["s"]._replace(fused_opcodes=fused),
    }
    assert is_stacked_carry(program, stack) == is_carry


@pytest.mark.parametrize(("stack", "is_removed"), [("s", False), ("t", True)])
def test_no_checkpoint_recomputes_a_stack_of_carries_in_another_type(programs, stack, is_removed):
    program = looped(programs, 128)
    maker = program.instructions["g"]
    program.instructions["g"] = maker._replace(opcode="convert")
    vars(program)["read_by"] = {**program.read_by, "g": (program.by_label[stack].value_id,)}
    assert is_recomputable(program, "g") == is_removed
