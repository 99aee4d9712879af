"""`advise` names what is mapped around a loop, or by its body, if only a reduction is read."""

import pytest

from tests.advice.small_compilations import with_results
from tests.advice.test_mapped_axes import SAMPLES
from xlagraph.advice.causes.mapped_axes import mapped_axes
from xlagraph.planner.dimensions.stored_operations import operations_of_text


@pytest.mark.parametrize(
    ("scope", "is_named"),
    [
        pytest.param("vmap()/while/body/exp", True, id="mapped around the loop"),
        pytest.param("vmap()/while/body/vmap()/exp", False, id="perhaps mapped in it alone"),
    ],
)
def test_what_a_mapped_loop_stacks_is_no_group_of_a_loop_in_it(programs, scope, is_named):
    program = programs(
        """
        0 | 256 | parameter 0, shape |f32[64]| at ShapeIndex {}
        1 | 8448 | preallocated-temp
        2 | 256 | maybe-live-out
        """,
        f"""
        0 | x    | f32[64]    | 0    | 256  | 0-5 | parameter(0)
        1 | loop | s32[]      | 8192 | 4    | 1-1 | iota()
        1 | h    | f32[16,64] | 0    | 4096 | 2-3 | multiply(x) | vmap()/while/body/vmap()/mul
        1 | g    | f32[16,64] | 4096 | 4096 | 3-4 | exponential(h) | {scope}
        2 | mean | f32[64]    | 0    | 256  | 4-5 | reduce(g) | jit(f)/reduce_sum @ f.py:8
        """,
    )
    program.stored.operations = operations_of_text(SAMPLES)
    for label in ("h", "g"):
        value = program.by_label[label]._replace(stack_loop="loop", stack_turns=5)
        program.compilation.values[value.value_id] = value
    with_results(program, "mean")
    assert bool(list(mapped_axes(program))) == is_named


@pytest.mark.parametrize(
    ("last", "size", "is_named"),
    [("pred[]", 1, True), ("pred[128]", 128, False)],
)
def test_the_condition_of_a_mapped_loop_may_be_reduced_in_two_steps(programs, last, size, is_named):
    program = programs(
        """
        0 | 256 | parameter 0, shape |f32[64]| at ShapeIndex {}
        1 | 8448 | preallocated-temp
        2 | 256 | maybe-live-out
        """,
        f"""
        0 | x     | f32[64]    | 0    | 256    | 0-6 | parameter(0)
        1 | h     | f32[16,64] | 0    | 4096   | 1-5 | multiply(x) | jit(f)/vmap()/mul @ f.py:5
        1 | some  | pred[1024] | 4096 | 1024   | 2-3 | compare(h) | jit(f)/vmap()/lt @ f.py:6
        1 | parts | pred[128]  | 8192 | 128    | 3-4 | reduce-window(some) | vmap()/while
        1 | last  | {last}     | 8320 | {size} | 4-5 | reduce(parts) | vmap()/while
        2 | mean  | f32[64]    | 0    | 256    | 5-6 | reduce(h) | jit(f)/reduce_sum @ f.py:8
        """,
    )
    program.stored.operations = operations_of_text(
        """HloModule m

ENTRY e {
  x = f32[64]{0} parameter(0)
  keys = f32[16]{0} iota(), iota_dimension=0
  noise = f32[16,64]{1,0} broadcast(keys), dimensions={0}
  all = f32[16,64]{1,0} broadcast(x), dimensions={1}
  h = f32[16,64]{1,0} multiply(noise, all)
  flat = f32[1024]{0} bitcast(h)
  some = pred[1024]{0} compare(flat, flat), direction=LT
  no = pred[] constant(0)
  parts = pred[128]{0} reduce-window(some, no), window={size=8 stride=8}, to_apply=or
  last = pred[] reduce(parts, no), dimensions={0}, to_apply=or
  zero = f32[] constant(0)
  ROOT mean = f32[64]{0} reduce(h, zero), dimensions={0}, to_apply=add
}
"""
    )
    with_results(program, "mean")
    assert bool(list(mapped_axes(program))) == is_named
