"""`advise` names experts that are computed for all tokens, each of which reads one."""

from fractions import Fraction

import pytest

from xlagraph.advice.causes.dense_experts import dense_experts
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.planner.edits.resizing import Scale

MODULE = """HloModule jit_f
ENTRY main (x: f32[16,2], w: f32[8,2,2], i: s32[16,1]) -> f32[16,2] {
  x = f32[16,2]{1,0} parameter(0)
  w = f32[8,2,2]{2,1,0} parameter(1)
  i = s32[16,1]{1,0} parameter(2)
  u = f32[16,8,2]{2,1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  h = f32[8,16,2]{2,1,0} transpose(u), dimensions={1,0,2}
  y = f32[8,16,2]{2,1,0} dot(h, w), lhs_batch_dims={0}, rhs_batch_dims={0}, \
lhs_contracting_dims={2}, rhs_contracting_dims={1}
  ROOT r = f32[16,2]{1,0} gather(y, i), offset_dims={1}, collapsed_slice_dims={0}, \
start_index_map={0}, operand_batching_dims={1}, start_indices_batching_dims={0}, \
index_vector_dim=1, slice_sizes={1,1,2}
}
"""
GIVEN = """
0 | 128  | parameter 0
1 | 128  | parameter 1
2 | 64   | parameter 2
3 | 3072 | preallocated-temp
4 | 128  | maybe-live-out
"""
VALUES = """
0 | x | f32[16,2]   | 0    | 128  | 0-4 | parameter(0)
1 | w | f32[8,2,2]  | 0    | 128  | 0-4 | parameter(1)
2 | i | s32[16,1]   | 0    | 64   | 0-4 | parameter(2)
3 | u | f32[16,8,2] | 2048 | 1024 | 0-1 | dot(x, w)
3 | h | f32[8,16,2] | 0    | 1024 | 1-3 | transpose(u)
3 | y | f32[8,16,2] | 1024 | 1024 | 2-4 | {product}(h, {weights})
4 | r | f32[16,2]   | 0    | 128  | 3-4 | {reader}
"""


@pytest.mark.parametrize(
    ("weights", "reader", "named"),
    [
        pytest.param("w", "gather(y, i) | jit(f)/gather @ f.py:6", ["u", "h", "y"], id="experts"),
        pytest.param("w", "reduce(y)", [], id="a sum of all experts"),
        pytest.param("h", "gather(y, i)", [], id="no weights of an expert"),
    ],
)
def test_what_a_gather_reads_of_one_expert_is_named_for_all(programs, weights, reader, named):
    program = programs(GIVEN, VALUES.format(product="dot", weights=weights, reader=reader))
    program.stored.operations = operations_of_text(MODULE)
    causes = list(dense_experts(program))
    found = [cause.edit for cause in causes]
    kept = [each.kept_by_label for each in found if isinstance(each, Scale)]
    assert kept == ([dict.fromkeys(named, Fraction(1, 4))] if named else [])
    reasons = {row["reason"] for cause in causes for row in cause.rows}
    assert reasons <= {"computed by all 8 experts; f.py:6 reads one of them"}


def test_a_tpu_computes_the_products_of_all_experts_as_convolutions(programs):
    reader = "gather(y, i) | jit(f)/gather @ f.py:6"
    program = programs(GIVEN, VALUES.format(product="fusion", weights="w", reader=reader))
    product = program.instructions["y"]._replace(fused_opcodes=("convolution",))
    program.instructions |= {"y": product}
    program.stored.operations = operations_of_text(MODULE)
    (cause,) = dense_experts(program)
    assert [row["value"] for row in cause.rows] == ["u", "h", "y"]
