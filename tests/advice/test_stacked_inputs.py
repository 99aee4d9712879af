"""`advise` names inputs that the program stacks for a loop."""

import pytest

from xlagraph.advice.causes.stacked_inputs import stacked_inputs
from xlagraph.planner.dimensions.stored_operations import operations_of_text


@pytest.mark.parametrize(
    ("joined", "read", "named"),
    [
        pytest.param("a, b", "[1,16]{1,0} dynamic-slice(s, i)", ["s"], id="stacked"),
        pytest.param("a, m", "[1,16]{1,0} dynamic-slice(s, i)", [], id="with a computed part"),
        pytest.param("a, b", "[2,16]{1,0} negate(s)", [], id="read at once"),
    ],
)
def test_inputs_of_which_a_loop_reads_a_stack_one_by_one_are_named(programs, joined, read, named):
    program = programs(
        """
        0 | 64 | parameter 0, shape |f32[16]| at ShapeIndex {}
        1 | 64 | parameter 1, shape |f32[16]| at ShapeIndex {}
        2 | 256 | preallocated-temp
        """,
        f"""
        0 | a    | f32[16]   | 0   | 64  | 0-5 | parameter(0)
        1 | b    | f32[16]   | 0   | 64  | 0-5 | parameter(1)
        2 | m    | f32[16]   | 192 | 64  | 0-1 | negate(b)
        2 | s    | f32[2,16] | 0   | 128 | 1-4 | concatenate({joined})
        2 | part | f32[16]   | 128 | 64  | 2-3 | fusion(s) | jit(f)/while @ f.py:9
        """,
    )
    program.instructions["part"] = program.instructions["part"]._replace(loop="part")
    program.stored.operations = operations_of_text(f"""HloModule m

ENTRY x {{
  s = f32[2,16]{{1,0}} parameter(0)
  i = s32[] parameter(1)
  part = f32{read}
}}
""")
    causes = list(stacked_inputs(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named
    reasons = [row["reason"] for cause in causes for row in cause.rows]
    assert reasons == ["a copy of a and b, of which f.py:9 reads one at a time"] * len(named)
