"""`advise` names values that a library of a GPU multiplies."""

import pytest

from tests.advice.small_compilations import with_results
from xlagraph.advice.causes.expanded_values import expanded_values
from xlagraph.planner.dimensions.stored_operations import operations_of_text

MODULE = """HloModule m

ENTRY e {
  x = f32[32,2]{1,0} parameter(0)
  y = f32[64,2]{1,0} parameter(1)
  w = f32[64,2]{1,0} parameter(2)
  k = (f32[32,64]{1,0}, s8[512]{0}) custom-call(x, y), custom_call_target="__cublas$lt$matmul", \
backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],\
"rhs_contracting_dimensions":["1"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]}}}
  k0 = f32[32,64]{1,0} get-tuple-element(k), index=0
  p = f32[32,64]{1,0} exponential(k0)
  ROOT s = f32[{rows},2]{1,0} custom-call(p, w), custom_call_target="{target}", \
backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],\
"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]}}}
}
"""


@pytest.mark.parametrize(("target", "is_named"), [("__cublas$lt$matmul", True), ("call", False)])
def test_pairs_of_which_a_library_sums_are_computed_in_parts(programs, target, is_named):
    program = programs(
        """
        0 | 256 | parameter 0, shape |f32[32,2]| at ShapeIndex {}
        1 | 512 | parameter 1, shape |f32[64,2]| at ShapeIndex {}
        2 | 512 | parameter 2, shape |f32[64,2]| at ShapeIndex {}
        3 | 16896 | preallocated-temp
        4 | 256 | maybe-live-out
        """,
        """
        0 | x    | f32[32,2]  | 0     | 256  | 0-5 | parameter(0)
        1 | y    | f32[64,2]  | 0     | 512  | 0-5 | parameter(1)
        2 | w    | f32[64,2]  | 0     | 512  | 0-5 | parameter(2)
        3 | k{0} | f32[32,64] | 0     | 8192 | 1-3 | custom-call(x, y)
        3 | k{1} | s8[512]    | 16384 | 512  | 1-1 | custom-call(x, y)
        3 | p    | f32[32,64] | 8192  | 8192 | 3-5 | exponential(k{0})
        4 | s    | f32[32,2]  | 0     | 256  | 4-5 | custom-call(p, w) | jit(f)/dot @ f.py:8
        """,
    )
    program.instructions |= {
        "k": program.instructions["k"]._replace(target="__cublas$lt$matmul"),
        "s": program.instructions["s"]._replace(target=target),
    }
    text = MODULE.replace("{rows}", "32").replace("{target}", target)
    program.stored.operations = operations_of_text(text)
    with_results(program, "s")
    rows = {row["value"] for cause in expanded_values(program, ()) for row in cause.rows}
    assert rows == ({"k{0}", "p"} if is_named else set())
