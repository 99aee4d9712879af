"""`advise` names numbers that are stored for each element of a product that they scale."""

import pytest

from xlagraph.advice.causes.scaled_products import scaled_products
from xlagraph.planner.dimensions.stored_operations import operations_of_text

MODULE = """HloModule m

repeated {
  one = f32[] parameter(0)
  ROOT many = f32[64,64]{1,0} broadcast(one), dimensions={}
}

kernel {
  q = f32[64,8]{1,0} parameter(0)
  k = f32[8,64]{1,0} parameter(1)
  scale = f32[64,64]{1,0} parameter(2)
  product = f32[64,64]{1,0} dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  shifted = f32[64,64]{1,0} add(product, product)
  scaled = f32[64,64]{1,0} SCALED
  ROOT exp = f32[64,64]{1,0} exponential(scaled)
}

ENTRY e {
  q = f32[64,8]{1,0} parameter(0)
  k = f32[8,64]{1,0} parameter(1)
  one = f32[] constant(2)
  scale = f32[64,64]{1,0} fusion(one), kind=kLoop, calls=repeated
  scores = f32[64,64]{1,0} fusion(q, k, scale), kind=kCustom, calls=kernel
  ROOT out = f32[64]{0} reduce(scores)
}
"""


def dump_of(makes):
    """Return the allocations and values of a program whose scale is made so."""
    return (
        """
        0 | 2048  | parameter 0, shape |f32[64,8]| at ShapeIndex {}
        1 | 2048  | parameter 1, shape |f32[8,64]| at ShapeIndex {}
        2 | 33088 | preallocated-temp
        """,
        f"""
        0 | q      | f32[64,8]  | 0     | 2048  | 0-5 | parameter(0)
        1 | k      | f32[8,64]  | 0     | 2048  | 0-5 | parameter(1)
        2 | one    | f32[]      | 32768 | 4     | 1-5 | constant()
        2 | scale  | f32[64,64] | 0     | 16384 | 2-5 | {makes}
        2 | scores | f32[64,64] | 16384 | 16384 | 3-5 | dot(q, k, scale) | jit(f)/mul @ f.py:7
        2 | out    | f32[64]    | 32832 | 256   | 4-5 | reduce(scores)
        """,
    )


@pytest.mark.parametrize(
    ("scaled", "makes", "named"),
    [
        pytest.param("multiply(product, scale)", "broadcast(one)", ["scale"], id="scores"),
        pytest.param("divide(product, scale)", "broadcast(one)", ["scale"], id="divided scores"),
        pytest.param("divide(scale, product)", "broadcast(one)", [], id="divided by scores"),
        pytest.param("add(product, scale)", "broadcast(one)", [], id="an added number"),
        pytest.param("multiply(shifted, scale)", "broadcast(one)", [], id="no product"),
        pytest.param("multiply(product, scale)", "broadcast(q)", [], id="several numbers"),
    ],
)
def test_a_number_that_scales_a_product_need_not_have_its_size(programs, scaled, makes, named):
    program = programs(*dump_of(makes))
    program.stored.operations = operations_of_text(MODULE.replace("SCALED", scaled))
    found = [row for cause in scaled_products(program) for row in cause.rows]
    assert [row["value"] for row in found] == named
    reason = "one number for each element of a product of f32[64,64], read at f.py:7"
    assert {row["reason"] for row in found} <= {reason}


def test_the_line_is_that_of_the_operation_that_scales(programs):
    tables = """FileNames
1 "/home/me/f.py"

FunctionNames
1 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=5 end_line=5 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

repeated {"""
    scaled = 'multiply(product, scale), metadata={op_name="jit(f)/mul" stack_frame_id=1}'
    module = MODULE.replace("SCALED", scaled).replace("repeated {", tables)
    program = programs(*dump_of("broadcast(one)"))
    program.stored.operations = operations_of_text(module)
    (row,) = [row for cause in scaled_products(program) for row in cause.rows]
    assert str(row["reason"]).endswith("read at f.py:5")
