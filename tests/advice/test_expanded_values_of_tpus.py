"""`advise` names values of which a TPU makes some, or copies parts, in VMEM."""

from tests.advice.small_compilations import with_results
from xlagraph.advice.causes.expanded_values import expanded_values
from xlagraph.advice.causes.peak_values import JOINED_PARTS
from xlagraph.planner.dimensions.stored_operations import operations_of_text

MODULE = """HloModule m

taken {
  p = f32[32,64]{1,0} parameter(0)
  n = s32[32,64,1]{2,1,0} parameter(1)
  i = s32[32,64,1]{2,1,0} custom-call(n), custom_call_target="GatherScatterIndicesBitpacked"
  ROOT g = f32[32,64]{1,0} gather(p, i), offset_dims={}, collapsed_slice_dims={1}, \
start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, \
index_vector_dim=2, slice_sizes={1,1}
}

ENTRY e {
  x = f32[32,2]{1,0} parameter(0)
  y = f32[64,2]{1,0} parameter(1)
  k = f32[32,64]{1,0} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  n = s32[32,64,1]{2,1,0} convert(k)
  c = f32[32,64]{0,1} copy(k)
  t = f32[32,64]{1,0} fusion(c, n), kind=kCustom, calls=taken
  a = f32[16,64]{1,0} slice(t), slice={[0:16], [0:64]}
  b = f32[16,64]{1,0} slice(t), slice={[16:32], [0:64]}
  w = f32[32,64]{1,0} custom-call(a, b), custom_call_target="ConcatBitcast"
  zero = f32[] constant(0)
  ROOT s = f32[64]{0} reduce(w, zero), dimensions={0}, to_apply=add
}
"""


def test_values_of_both_memories_are_computed_in_parts_together(programs):
    program = programs(
        """
        0 | 256 | parameter 0, shape |f32[32,2]| at ShapeIndex {}
        1 | 512 | parameter 1, shape |f32[64,2]| at ShapeIndex {}
        2 | 24576 | preallocated-temp
        3 | 16384 | color 1, preallocated-temp
        4 | 256 | maybe-live-out
        """,
        """
        0 | x | f32[32,2]    | 0     | 256  | 0-9 | parameter(0)
        1 | y | f32[64,2]    | 0     | 512  | 0-9 | parameter(1)
        3 | k | f32[32,64]   | 0     | 8192 | 1-3 | dot(x, y)
        2 | n | s32[32,64,1] | 0     | 8192 | 2-4 | convert(k)
        2 | c | f32[32,64]   | 8192  | 8192 | 3-4 | copy(k)
        2 | t | f32[32,64]   | 16384 | 8192 | 4-6 | fusion(c, n)
        3 | a | f32[16,64]   | 0     | 4096 | 5-7 | slice(t)
        3 | b | f32[16,64]   | 4096  | 4096 | 6-7 | slice(t)
        3 | w | f32[32,64]   | 8192  | 8192 | 7-8 | custom-call(a, b)
        4 | s | f32[64]      | 0     | 256  | 8-9 | reduce(w) | jit(f)/sum @ f.py:8
        """,
    )
    program.instructions |= {
        "t": program.instructions["t"]._replace(fused_opcodes=("custom-call", "gather")),
        "w": program.instructions["w"]._replace(target=JOINED_PARTS),
    }
    program.stored.operations = operations_of_text(MODULE)
    with_results(program, "s")
    (cause,) = expanded_values(program, ())
    assert {row["value"] for row in cause.rows} == {"n", "c", "t"}
    assert str(cause.rows[0]["reason"]).startswith("computed for all 32 rows from 768 B")
