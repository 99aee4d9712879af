"""What is computed only so that one result, such as the norm of a gradient, can be."""

from dataclasses import replace

import pytest

from tests.advice.small_compilations import with_dependences
from xlagraph.advice.causes.needed_only import needed_only_for

VALUES = """
0 | x | f32[64]   | 0    | 256 | 0-7 | parameter(0)
1 | h | f32[8,64] | 0    | 2048 | 1-4 | fusion(x)
1 | y | f32[64]   | 2048 | 256  | 2-6 | fusion(x)
1 | g | f32[8,64] | 4096 | 2048 | 3-5 | fusion(h)
1 | e | f32[64]   | 2304 | 256  | 4-5 | fusion(h, y)
1 | n | f32[1]    | 2560 | 4    | 5-6 | reduce(g, e)
2 | r | f32[1]    | 0    | 4    | 6-7 | add(n)
2 | z | f32[64]   | 64   | 256  | 7-7 | negate(y)
"""


@pytest.mark.parametrize(
    ("last", "found"),
    [
        pytest.param("r = add(n)", {"h", "g", "e", "n"}, id="a norm that is returned"),
        pytest.param("z = negate(y, n)", set(), id="parameters that are clipped by it"),
    ],
)
def test_what_only_leads_to_a_number_is_needed_only_for_it(programs, last, found):
    program = programs(
        """
        0 | 256  | parameter 0, shape |f32[64]| at ShapeIndex {}
        1 | 6144 | preallocated-temp
        2 | 320  | maybe-live-out
        """,
        VALUES,
    )
    lines = ["x = parameter()", "h = fusion(x)", "y = fusion(x)", "g = fusion(h)"]
    lines += ["e = fusion(h, y)", "n = reduce(g, e)"]
    lines += [last] if last.startswith("r") else []
    lines += ["z = negate(y)" if last.startswith("r") else last]
    lines += ["out = tuple(z, r)" if last.startswith("r") else "out = tuple(z)"]
    with_dependences(program, *lines)
    known = program.schedulable.instructions
    sized = [each._replace(result_bytes=256 if each.name == "z" else 4) for each in known]
    program.schedulable = replace(program.schedulable, instructions=tuple(sized))
    labels = {program.values[each].label for each in needed_only_for(program, {"n"})}
    assert labels - {"r"} == found
