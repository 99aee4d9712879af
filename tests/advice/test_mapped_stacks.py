"""`advise` names stacks of loops that are mapped before they are reduced."""

import pytest

from tests.advice.small_compilations import (
    as_stack,
    share_one_buffer_set,
    with_dependences,
    with_results,
)
from xlagraph.advice.causes.reduced_stacks import reduced_stacks
from xlagraph.planner.dimensions.stored_operations import operations_of_text


def mapped(programs, mapping, reads, *, result="mean", read="fusion", shape="64,16"):
    """A stack of 64 iterations, what is mapped of it, and the mean of that."""
    size = 4096 if shape == "64,16" else 64
    program = programs(
        """
        0 | 12288 | preallocated-temp
        1 | 4096 | maybe-live-out
        """,
        f"""
        0 | loop | s32[]      | 0    | 4    | 0-1 | iota()
        0 | s    | f32[64,16] | 4096 | 4096 | 1-3 | fusion(loop)
        0 | o    | f32[64,16] | 0    | 4096 | 2-4 | fusion(loop)
        0 | e    | f32[{shape}] | 8192 | {size} | 3-4 | {read}({reads}) | jit(f)/mul @ f.py:8
        1 | mean | f32[16]    | 0    | 64   | 4-5 | reduce(e) | jit(f)/reduce_sum @ f.py:9
        """,
    )
    as_stack(program, "s")
    program.stored.operations = operations_of_text(
        f"""HloModule m

ENTRY x {{
  s = f32[64,16]{{1,0}} parameter(0)
  o = f32[64,16]{{1,0}} parameter(1)
  zero = f32[] constant(0)
  e = f32[64,16]{{1,0}} {mapping}
  ROOT mean = f32[16]{{0}} reduce(e, zero), dimensions={{0}}, to_apply=add
}}
"""
    )
    with_results(program, result)
    chain = ("loop = iota()", "s = fusion(loop)", "o = fusion(loop)", f"e = fusion({reads})")
    with_dependences(program, *chain, "mean = reduce(e)")
    return [row["value"] for cause in reduced_stacks(program) for row in cause.rows]


@pytest.mark.parametrize(
    ("mapping", "reads", "named"),
    [
        pytest.param("multiply(s, s)", "s", ["s"], id="of each iteration"),
        pytest.param("reverse(s), dimensions={0}", "s", [], id="in another order"),
        pytest.param("add(s, o)", "s, o", [], id="of what follows the loop"),
        pytest.param("sort(s), dimensions={0}, to_apply=less", "s", [], id="of all iterations"),
    ],
)
def test_a_stack_that_is_mapped_before_it_is_reduced_is_named(programs, mapping, reads, named):
    assert mapped(programs, mapping, reads) == named


def test_a_mapped_stack_that_the_program_returns_is_not_named(programs):
    assert mapped(programs, "multiply(s, s)", "s", result="e") == []


@pytest.mark.parametrize(("reads", "named"), [("s", ["s"]), ("s, o", [])])
def test_a_sum_that_reads_what_follows_the_loop_needs_the_stack(programs, reads, named):
    found = mapped(programs, "multiply(s, s)", reads, read="reduce", shape="16")
    assert found == named


@pytest.mark.parametrize(
    ("returned", "named"),
    [
        pytest.param("sums", ["s"], id="a number of each, which the loop can stack"),
        pytest.param("e", [], id="an array of each"),
    ],
)
def test_a_small_result_of_each_iteration_needs_no_stack_of_large_ones(programs, returned, named):
    program = programs(
        """
        0 | 12288 | preallocated-temp
        1 | 4096 | maybe-live-out
        """,
        """
        0 | loop | s32[]      | 0    | 4    | 0-1 | iota()
        0 | s    | f32[64,16] | 4096 | 4096 | 1-3 | fusion(loop)
        0 | e    | f32[1024]  | 8192 | 4096 | 2-4 | fusion(s) | jit(f)/mul @ f.py:8
        0 | step | f32[64,2]  | 0    | 512  | 3-4 | reduce-window(e)
        1 | sums | f32[64]    | 0    | 256  | 4-5 | reduce(step) | jit(f)/reduce_sum @ f.py:9
        """,
    )
    as_stack(program, "s")
    program.stored.operations = operations_of_text(
        """HloModule m

square {
  p = f32[64,16]{1,0} parameter(0)
  q = f32[64,16]{1,0} multiply(p, p)
  ROOT flat = f32[1024]{0} bitcast(q)
}

ENTRY x {
  s = f32[64,16]{1,0} parameter(0)
  e = f32[1024]{0} fusion(s), kind=kLoop, calls=square
  rows = f32[64,16]{1,0} bitcast(e)
  zero = f32[] constant(0)
  step = f32[64,2]{1,0} reduce-window(rows, zero), window={size=1x8 stride=1x8}, to_apply=add
  ROOT sums = f32[64]{0} reduce(step, zero), dimensions={1}, to_apply=add
}
"""
    )
    with_results(program, returned)
    chain = ("loop = iota()", "s = fusion(loop)", "e = fusion(s)", "step = reduce-window(e)")
    with_dependences(program, *chain, "sums = reduce(step)")
    assert [row["value"] for cause in reduced_stacks(program) for row in cause.rows] == named


@pytest.mark.parametrize(
    ("scale", "named"),
    [
        pytest.param("sqrt(sums)", ["s"], id="the norm of the iteration"),
        pytest.param("reverse(sums), dimensions={0}", [], id="that of another iteration"),
    ],
)
def test_a_stack_is_scaled_in_the_loop_by_what_the_loop_can_compute(programs, scale, named):
    program = programs(
        """
        0 | 12288 | preallocated-temp
        1 | 4096 | maybe-live-out
        """,
        """
        0 | loop | s32[]      | 0    | 4    | 0-1 | iota()
        0 | s    | f32[64,16] | 4096 | 4096 | 1-5 | fusion(loop)
        0 | sums | f32[64]    | 0    | 256  | 2-4 | reduce(s) | jit(f)/reduce_sum @ f.py:7
        0 | norm | f32[64]    | 256  | 256  | 3-5 | fusion(sums) | jit(f)/sqrt @ f.py:7
        0 | e    | f32[64,16] | 8192 | 4096 | 4-6 | fusion(s, norm) | jit(f)/mul @ f.py:8
        1 | mean | f32[16]    | 0    | 64   | 5-6 | reduce(e) | jit(f)/reduce_sum @ f.py:9
        """,
    )
    as_stack(program, "s")
    program.stored.operations = operations_of_text(
        f"""HloModule m

ENTRY x {{
  s = f32[64,16]{{1,0}} parameter(0)
  zero = f32[] constant(0)
  sums = f32[64]{{0}} reduce(s, zero), dimensions={{1}}, to_apply=add
  norm = f32[64]{{0}} {scale}
  each = f32[64,16]{{1,0}} broadcast(norm), dimensions={{0}}
  e = f32[64,16]{{1,0}} multiply(s, each)
  ROOT mean = f32[16]{{0}} reduce(e, zero), dimensions={{0}}, to_apply=add
}}
"""
    )
    with_results(program, "mean")
    chain = ("loop = iota()", "s = fusion(loop)", "sums = reduce(s)", "norm = fusion(sums)")
    with_dependences(program, *chain, "e = fusion(s, norm)", "mean = reduce(e)")
    assert [row["value"] for cause in reduced_stacks(program) for row in cause.rows] == named


def test_what_writes_a_stack_next_to_another_value_does_not_read_it(programs):
    program = programs(
        """
        0 | 12288 | preallocated-temp
        1 | 4096 | maybe-live-out
        """,
        """
        0 | loop | s32[]      | 0    | 4    | 0-1 | iota()
        0 | old  | f32[64,16] | 4096 | 4096 | 1-2 | broadcast(loop)
        0 | s{0} | f32[64,16] | 4096 | 4096 | 2-3 | fusion(old)
        0 | s{1} | f32[16]    | 0    | 64   | 2-3 | fusion(old)
        0 | e    | f32[64,16] | 8192 | 4096 | 3-4 | fusion(s{0}) | jit(f)/mul @ f.py:8
        1 | mean | f32[16]    | 0    | 64   | 4-5 | reduce(e) | jit(f)/reduce_sum @ f.py:9
        """,
    )
    share_one_buffer_set(program, "old", "s{0}")
    as_stack(program, "s{0}")
    program.stored.operations = operations_of_text(
        """HloModule m

ENTRY x {
  old = f32[64,16]{1,0} parameter(0)
  part = f32[16]{0} parameter(1)
  s = (f32[64,16]{1,0}, f32[16]{0}) tuple(old, part)
  new = f32[64,16]{1,0} get-tuple-element(s), index=0
  zero = f32[] constant(0)
  e = f32[64,16]{1,0} multiply(new, new)
  ROOT mean = f32[16]{0} reduce(e, zero), dimensions={0}, to_apply=add
}
"""
    )
    with_results(program, "mean")
    chain = ("loop = iota()", "old = broadcast(loop)", "s = fusion(old)", "e = fusion(s)")
    with_dependences(program, *chain, "mean = reduce(e)")
    assert [row["value"] for cause in reduced_stacks(program) for row in cause.rows] == ["s{0}"]
