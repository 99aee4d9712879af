"""`advise` names nothing that only a random number generator computes."""

import pytest

from tests.advice.small_compilations import with_dependences
from xlagraph.advice.causes.forced_copies import forced_copies
from xlagraph.advice.causes.pair_scores import pair_scores


@pytest.mark.parametrize(("dtype", "is_named"), [("f32", True), ("u32", False)])
def test_no_line_of_the_program_moves_the_carries_of_a_generator(programs, dtype, is_named):
    program = programs(
        "0 | 24576 | preallocated-temp",
        f"""
        0 | p{{0}} (phi) | {dtype}[1024] | 0     | 4096 | 0-2 | parameter(0)
        0 | p{{1}} (phi) | {dtype}[1024] | 4096  | 4096 | 0-3 | parameter(0)
        0 | ka, r{{1}}   | {dtype}[1024] | 8192  | 4096 | 1-5 | copy(p{{0}})
        0 | kb           | {dtype}[1024] | 12288 | 4096 | 2-5 | copy(p{{1}})
        0 | h, r{{0}}    | {dtype}[1024] | 16384 | 4096 | 3-5 | fusion(kb)
        - | r            | ({dtype}[1024], {dtype}[1024]) | - | - | 4-5 | tuple(h, ka)
        0 | loop{{0}}    | {dtype}[1024] | 20480 | 4096 | 5-6 | while(r)
        """,
    )
    with_dependences(
        program,
        "p = parameter()",
        "ka = copy(p)",
        "kb = copy(p)",
        "h = fusion(kb)",
        "r = tuple(h, ka)",
        "loop = while()",
        callees={"body": ("p", "ka", "kb", "h", "r")},
    )
    assert bool(list(forced_copies(program))) == is_named


@pytest.mark.parametrize(("dtype", "is_named"), [("s32", True), ("u32", False)])
def test_a_product_next_to_what_is_drawn_for_each_of_its_elements_is_no_score(
    programs, dtype, is_named
):
    program = programs(
        """
        0 | 1024 | parameter 0, shape |f32[64,4]| at ShapeIndex {}
        1 | 65536 | preallocated-temp
        """,
        f"""
        0 | x       | f32[64,4]      | 0     | 1024  | 0-6 | parameter(0)
        1 | y       | f32[64,4]      | 0     | 1024  | 1-6 | tanh(x)
        1 | s       | f32[64,64]     | 1024  | 16384 | 2-5 | dot(y, y)
        1 | loop{{0}} | {dtype}[64,64] | 17408 | 16384 | 3-5 | while(x)
        1 | r       | f32[64]        | 33792 | 256   | 4-5 | reduce(s, loop{{0}}) | jit(f)/sum
        1 | o       | f32[64,64]     | 34048 | 16384 | 5-6 | add(s, loop{{0}}) | jit(f)/jvp()/add
        1 | d       | f32[64]        | 50432 | 256   | 6-6 | reduce(o) | jit(f)/sum @ f.py:9
        """,
    )
    assert bool(list(pair_scores(program))) == is_named
