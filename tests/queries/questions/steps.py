"""A question with its dumps, and a step of a few values for several questions."""

from collections.abc import Callable, Mapping

Rows = list[tuple[object, ...]]
Answer = Callable[[Mapping[str, tuple[str, str]], str, str], Rows]
"""Returns columns of a command's answer about dumps, given as the two tables of `run/module`."""


def step(temp: int) -> tuple[str, str]:
    """Write a dump with a softmax of this many elements."""
    allocations = f"""
        0 | 64 | parameter 0, shape |f32[16]| at ShapeIndex {{}}
        1 | {4 * temp + 64} | preallocated-temp
        2 | 4 | output shape is |f32[]|, maybe-live-out
    """
    values = f"""
        0 | x | f32[16]{{0}} | 0 | 64 | 0-4 | parameter(0)
        1 | h | f32[16]{{0}} | 0 | 64 | 1-3 | fusion(x) | jit(f)/mlp/tanh @ model.py:3
        1 | s | f32[{temp}]{{0}} | 64 | {4 * temp} | 2-3 | fusion(h) | jit(f)/att/exp @ model.py:9
        2 | r | f32[] | 0 | 4 | 3-4 | fusion(s, h) | jit(f)/sum @ model.py:11
    """
    return allocations, values
