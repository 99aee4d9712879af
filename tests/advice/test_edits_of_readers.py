"""If a reader forces a copy, the edit that is replanned is the one that the remedy describes."""

from dataclasses import replace

from tests.advice.small_compilations import (
    share_one_buffer_set,
    with_dependences,
    with_overwrites,
    with_results,
    with_values,
)
from xlagraph.advice.causes.forced_copies import forced_copies
from xlagraph.planner.edits.resizing import Remove
from xlagraph.planner.edits.waiting_writes import WaitForGradients

ALLOCATIONS = """
    0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}, maybe-live-out
    1 | 8192 | preallocated-temp
"""
VALUES = """
    0 | p    | f32[1024] | 0    | 4096 | 0-1 | parameter(0)
    1 | k    | f32[1024] | 0    | 4096 | 1-4 | copy(p)
    1 | grad | f32[1024] | 4096 | 4096 | 2-3 | dot(k) | jit(f)/transpose(jvp())/dot @ train.py:20
    0 | out  | f32[1024] | 0    | 4096 | 3-5 | fusion(grad) | jit(f)/sub @ train.py:30
    1 | dx   | f32[1]    | 4096 | 4    | 4-5 | reduce(k)    | jit(f)/READER @ train.py:21
"""


def planned(programs, reader):
    program = programs(ALLOCATIONS, VALUES.replace("READER", reader))
    with_values(program, [each._replace(is_in_entry=True) for each in program.program.values])
    share_one_buffer_set(program, "p", "out")
    with_results(program, "out")
    with_overwrites(program, ("out", "grad"))
    with_dependences(
        program,
        "p = parameter()",
        "k = copy(p)",
        "grad = dot(k)",
        "out = fusion(grad)",
        "dx = reduce(k)",
    )
    program.compilation = replace(program.compilation, platform="gpu")
    (cause,) = forced_copies(program)
    return program, cause


def test_a_reader_of_the_backward_pass_is_ordered_by_waiting_for_all_gradients(programs):
    program, cause = planned(programs, "transpose(jvp())/dot_general")
    edit = cause.edit
    assert isinstance(edit, WaitForGradients)
    assert "optimization_barrier((params, grads))" in cause.remedies["jax"]
    assert edit.copies.patterns == ("k",)
    assert edit.gradients == {program.by_label["grad"].value_id}


def test_another_reader_is_ordered_without_them(programs):
    _, cause = planned(programs, "reduce_sum")
    assert isinstance(cause.edit, Remove)
    assert "optimization_barrier((old, result))" in cause.remedies["jax"]
