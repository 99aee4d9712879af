"""`advise` names states that a loop reads part by part and stacks again, and their readers."""

from dataclasses import replace

import pytest

from tests.advice.small_compilations import (
    share_one_buffer_set,
    with_dependences,
    with_results,
)
from tests.advice.test_causes import FIRST, read_later
from xlagraph.advice.causes.forced_copies import forced_copies
from xlagraph.advice.causes.loop_states import rewritten_inputs
from xlagraph.planner.dimensions.stored_operations import operations_of_text

DONATED = "0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}, maybe-live-out"


@pytest.mark.parametrize(
    ("reader", "op", "named"),
    [
        ("dynamic-slice", "jit(f)/while", ["new"]),
        ("negate", "jit(f)/while", []),
        ("dynamic-slice", "jit(f)/transpose(jvp())/while", []),
    ],
)
def test_a_state_that_a_loop_reads_in_parts_and_stacks_anew_is_named(programs, reader, op, named):
    program = programs(
        f"{DONATED}\n1 | 8192 | preallocated-temp",
        f"""
        0 | old  | f32[1024] | 0    | 4096 | 0-3 | parameter(0)
        1 | new  | f32[1024] | 0    | 4096 | 1-4 | fusion() | {op}
        1 | part | f32[16]   | 4096 | 64   | 2-3 | {reader}(old)
        1 | last | f32[16]   | 4160 | 64   | 3-4 | negate(part)
        0 | out  | f32[1024] | 0    | 4096 | 4-5 | copy(new)
        """,
    )
    share_one_buffer_set(program, "old", "out")
    stack = program.by_label["new"]._replace(stack_loop="loop", stack_turns=64)
    values = {**program.values, stack.value_id: stack}
    program.compilation = replace(program.compilation, values=values)
    part = program.instructions["part"]
    program.instructions["part"] = part._replace(loop="loop")
    program.stored.operations = operations_of_text(f"""HloModule m

ENTRY e {{
  old = f32[1024]{{0}} parameter(0)
  part = f32[16]{{0}} {reader}(old)
}}
""")
    causes = list(rewritten_inputs(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named


@pytest.mark.parametrize(
    ("reader", "op", "reason"),
    [
        (
            "reduce(kept)",
            "reduce_sum",
            "reads the old s, and nothing orders this before f.py:30, which overwrites it",
        ),
        ("reduce(kept, new)", "reduce_sum", "reads the old s and what f.py:30 writes over it"),
        pytest.param(
            "select(kept, new)",
            "while",
            "reads the old s and what f.py:30 writes over it",
            id="of a loop that jax.vmap maps",
        ),
    ],
)
def test_a_stack_that_is_copied_over_a_state_overwrites_it_for_readers(
    programs, reader, op, reason
):
    program = programs(
        f"{DONATED}\n1 | 12288 | preallocated-temp",
        f"""
        0 | s    | f32[1024] | 0    | 4096 | 0-5 | parameter(0)
        1 | kept | f32[1024] | 0    | 4096 | 1-4 | copy(s)
        1 | part | f32[16]   | 8192 | 64   | 2-3 | dynamic-slice(kept)
        1 | new  | f32[1024] | 4096 | 4096 | 3-4 | while(kept) | jit(f)/while @ f.py:30
        1 | sum  | f32[1]    | 8320 | 4    | 4-5 | {reader} | jit(f)/vmap()/{op} @ f.py:31
        0 | out  | f32[1024] | 0    | 4096 | 5-6 | copy(new) | jit(f)/mul @ f.py:40
        """,
    )
    share_one_buffer_set(program, "s", "out")
    with_results(program, "out")
    stack = program.by_label["new"]._replace(stack_loop="new", stack_turns=64)
    values = {**program.values, stack.value_id: stack}
    program.compilation = replace(program.compilation, values=values)
    program.instructions["part"] = program.instructions["part"]._replace(loop="new")
    program.stored.operations = operations_of_text("""HloModule m

ENTRY e {
  kept = f32[1024]{0} parameter(0)
  part = f32[16]{0} dynamic-slice(kept)
}
""")
    rows = ("s = parameter()", "kept = copy(s)", "new = while(kept)", "out = copy(new)")
    with_dependences(program, *rows, f"sum = {reader}")
    (cause,) = forced_copies(program)
    assert [row["reason"] for row in cause.rows] == [f"f.py:31 ({op}) {reason}"]
    assert ("outside of jax.vmap" in cause.remedies["jax"]) == (op == "while")
    assert [row["value"] for cause in rewritten_inputs(program) for row in cause.rows] == ["new"]


@pytest.mark.parametrize(("scope", "count"), [("jvp()", 1), ("transpose(jvp())", 0)])
def test_no_line_of_the_program_orders_what_a_backward_pass_reads_and_writes(
    programs, scope, count
):
    program = read_later(programs)
    with_dependences(program, *FIRST, "out = fusion(k2)", "sum = reduce(k)")
    values = program.compilation.values
    scoped = {
        each: value._replace(attributed_op_name=f"jit(f)/{scope}/mul")
        for each, value in values.items()
        if value.name in ("out", "sum")
    }
    program.compilation = replace(program.compilation, values=values | scoped)
    assert len(list(forced_copies(program))) == count
