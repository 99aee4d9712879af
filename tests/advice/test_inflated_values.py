"""`advise` names values that are much larger than what they are computed from."""

import pytest

from xlagraph.advice.causes.inflated_values import inflated_values, one_hot_products
from xlagraph.planner.dimensions.stored_operations import operations_of_text


def test_a_mask_only_compares_and_selects_much_smaller_arrays(programs):
    program = programs(
        "0 | 64 | parameter 0, shape |s8[64]| at ShapeIndex {}\n1 | 16384 | preallocated-temp",
        """
        0 | lens  | s8[64]    | 0     | 64   | 0-4 | parameter(0)
        1 | mask  | s8[64,64] | 0     | 4096 | 1-4 | compare(lens)   | jit(f)/ge @ model.py:9
        1 | scale | s8[64,64] | 4096  | 4096 | 2-4 | multiply(lens)
        1 | eye   | s8[64,64] | 8192  | 4096 | 3-4 | broadcast(lens)
        1 | dot   | s8[64,64] | 12288 | 4096 | 4-4 | dot(lens, eye)
        1 | all   | s8[64,64] | 12288 | 4096 | 4-4 | fusion(mask, scale)
        """,
    )
    (cause,) = inflated_values(program)
    assert [row["value"] for row in cause.rows] == ["mask"]  # a dot reads eye from memory
    reason = "a mask, computed from 64 bytes and stored"
    assert (cause.rows[0]["userLine"], cause.rows[0]["reason"]) == (9, reason)


@pytest.mark.parametrize(
    ("fused", "reader", "named"),
    [
        (("compare", "convert", "iota"), "dot", ["hot"]),
        (("compare", "convert"), "dot", []),  # which indices are equal is no one-hot matrix
        (("compare", "convert", "iota"), "multiply", []),
    ],
)
def test_a_one_hot_matrix_is_named_if_a_product_reads_it(programs, fused, reader, named):
    program = programs(
        "0 | 256 | parameter 0, shape |s32[64]| at ShapeIndex {}\n1 | 32768 | preallocated-temp",
        f"""
        0 | ids | s32[64]    | 0     | 256   | 0-2 | parameter(0)
        1 | hot | f32[64,64] | 0     | 16384 | 1-2 | fusion(ids) | jit(f)/jit(_one_hot)/convert
        1 | out | f32[64,64] | 16384 | 16384 | 2-2 | {reader}(hot)
        """,
    )
    made = program.instructions["hot"]._replace(fused_opcodes=fused)
    program.instructions["hot"] = made
    causes = list(one_hot_products(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named


@pytest.mark.parametrize(
    ("shape", "made", "named"),
    [
        pytest.param("f32[128,64]", "convert(t)", ["all", "hot"], id="rows to choose from"),
        pytest.param("f32[128,64]", "multiply(t, t)", ["hot"], id="rows that are computed"),
        pytest.param("f32[64,128]", "convert(t)", ["hot"], id="rows that are added up"),
    ],
)
def test_a_table_that_is_converted_for_a_one_hot_product_is_named_with_it(
    programs, shape, made, named
):
    program = programs(
        """
        0 | 256 | parameter 0, shape |s32[64]| at ShapeIndex {}
        2 | 8192 | parameter 1, shape |u8[128,64]| at ShapeIndex {}
        1 | 90112 | preallocated-temp
        """,
        f"""
        0 | ids | s32[64]     | 0     | 256   | 0-3 | parameter(0)
        2 | t   | u8[128,64]  | 0     | 8192  | 0-3 | parameter(1)
        1 | hot | f32[64,128] | 0     | 32768 | 1-3 | fusion(ids) | jit(f)/jit(_one_hot)/convert
        1 | all | {shape}     | 32768 | 32768 | 2-3 | {made}
        1 | out | f32[64,64]  | 65536 | 16384 | 3-3 | dot(hot, all)
        """,
    )
    fused = ("compare", "convert", "iota")
    program.instructions["hot"] = program.instructions["hot"]._replace(fused_opcodes=fused)
    (cause,) = one_hot_products(program)
    assert sorted(str(row["value"]) for row in cause.rows) == named


def test_the_sum_of_one_hot_rows_that_a_product_reads_is_named_with_them(programs):
    program = programs(
        "0 | 512 | parameter 0, shape |s32[64,2]| at ShapeIndex {}\n1 | 65536 | preallocated-temp",
        """
        0 | ids | s32[64,2]    | 0     | 512   | 0-3 | parameter(0)
        1 | hot | f32[64,2,64] | 0     | 32768 | 1-2 | fusion(ids) | jit(f)/jit(_one_hot)/convert
        1 | sum | f32[64,64]   | 32768 | 16384 | 2-3 | reduce(hot)
        1 | out | f32[64,64]   | 49152 | 16384 | 3-3 | dot(sum)
        """,
    )
    fused = ("compare", "convert", "iota")
    program.instructions["hot"] = program.instructions["hot"]._replace(fused_opcodes=fused)
    (cause,) = one_hot_products(program)
    assert [row["value"] for row in cause.rows] == ["hot", "sum"]


def test_a_one_hot_matrix_that_a_gpu_pads_for_its_product_is_named_with_the_copy(programs):
    program = programs(
        "0 | 512 | parameter 0, shape |s32[64,2]| at ShapeIndex {}\n1 | 65536 | preallocated-temp",
        """
        0 | ids | s32[64,2]  | 0     | 512   | 0-3 | parameter(0)
        1 | hot | f32[64,60] | 0     | 15360 | 1-2 | fusion(ids) | jit(f)/jit(_one_hot)/convert
        1 | pad | f32[64,64] | 15360 | 16384 | 2-3 | pad(hot)
        1 | out | f32[64,64] | 49152 | 16384 | 3-3 | dot(pad)
        """,
    )
    fused = ("compare", "convert", "iota", "reduce")
    program.instructions["hot"] = program.instructions["hot"]._replace(fused_opcodes=fused)
    (cause,) = one_hot_products(program)
    assert [row["value"] for row in cause.rows] == ["hot", "pad"]


def comparing_labels(programs, direction, reader="multiply(hot)", op_name="jit(f)/mul"):
    """Return a program that compares labels with the numbers of columns, and its reader."""
    program = programs(
        "0 | 256 | parameter 0, shape |s32[64]| at ShapeIndex {}\n1 | 32768 | preallocated-temp",
        f"""
        0 | ids | s32[64]    | 0     | 256   | 0-2 | parameter(0)
        1 | hot | f32[64,64] | 0     | 16384 | 1-2 | fusion(ids) | jit(f)/convert
        1 | out | f32[64,64] | 16384 | 16384 | 2-2 | {reader} | {op_name}
        """,
    )
    fused = ("compare", "convert", "iota")
    program.instructions["hot"] = program.instructions["hot"]._replace(fused_opcodes=fused)
    program.stored.operations = operations_of_text(f"""HloModule jit_f
%compared (p: s32[64]) -> f32[64,64] {{
  %p = s32[64]{{0}} parameter(0)
  %i = s32[64]{{0}} iota(), iota_dimension=0
  %c = pred[64,64]{{1,0}} compare(%p, %i), direction={direction}
  ROOT %f = f32[64,64]{{1,0}} convert(%c)
}}

ENTRY %main (ids: s32[64]) -> f32[64,64] {{
  %ids = s32[64]{{0}} parameter(0)
  ROOT %hot = f32[64,64]{{1,0}} fusion(%ids), kind=kLoop, calls=%compared
}}
""")
    return program


@pytest.mark.parametrize(("direction", "named"), [("EQ", ["numbers"]), ("LT", [])])
def test_a_gpu_stores_the_numbers_of_columns_and_compares_them_in_its_products(
    programs, direction, named
):
    program = programs(
        """
        0 | 256  | parameter 0, shape |s32[64]| at ShapeIndex {}
        1 | 1024 | parameter 1, shape |f32[64,4]| at ShapeIndex {}
        2 | 17408 | preallocated-temp
        """,
        """
        0 | ids     | s32[64]    | 0     | 256   | 0-4 | parameter(0)
        1 | table   | f32[64,4]  | 0     | 1024  | 0-4 | parameter(1)
        2 | numbers | s32[64,64] | 0     | 16384 | 2-4 | fusion()
        2 | same    | s32[64,64] | 0     | 16384 | 3-4 | bitcast(numbers)
        2 | rows    | f32[64,4]  | 16384 | 1024  | 4-4 | fusion(ids, numbers, table)
        """,
    )
    for name, opcodes in (("numbers", ("iota",)), ("rows", ("compare", "convert", "dot"))):
        fused = program.instructions[name]._replace(fused_opcodes=opcodes)
        program.instructions |= {name: fused}
    program.stored.operations = operations_of_text(f"""HloModule jit_f
%columns () -> s32[64,64] {{
  ROOT %i = s32[64,64]{{1,0}} iota(), iota_dimension=1
}}
%product (p: s32[64], n: s32[64,64], t: f32[64,4]) -> f32[64,4] {{
  %p = s32[64]{{0}} parameter(0)
  %n = s32[64,64]{{1,0}} parameter(1)
  %t = f32[64,4]{{1,0}} parameter(2)
  %b = s32[64,64]{{1,0}} broadcast(%p), dimensions={{0}}
  %c = pred[64,64]{{1,0}} compare(%b, %n), direction={direction}
  %f = f32[64,64]{{1,0}} convert(%c)
  ROOT %d = f32[64,4]{{1,0}} dot(%f, %t), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}

ENTRY %main (ids: s32[64], table: f32[64,4]) -> f32[64,4] {{
  %ids = s32[64]{{0}} parameter(0)
  %table = f32[64,4]{{1,0}} parameter(1)
  %numbers = s32[64,64]{{1,0}} fusion(), kind=kLoop, calls=%columns
  %same = s32[64,64]{{1,0}} bitcast(%numbers)
  ROOT %rows = f32[64,4]{{1,0}} fusion(%ids, %same, %table), kind=kCustom, calls=%product
}}
""")
    causes = list(one_hot_products(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named


@pytest.mark.parametrize(("direction", "named"), [("EQ", ["hot"]), ("LT", [])])
def test_a_matrix_of_equal_numbers_is_one_hot_without_a_name(programs, direction, named):
    causes = list(one_hot_products(comparing_labels(programs, direction, "dot(hot)")))
    assert [row["value"] for cause in causes for row in cause.rows] == named


@pytest.mark.parametrize(("left", "right", "named"), [("x", "x", ["mask"]), ("x", "m", [])])
def test_a_mask_may_be_added_to_the_product_of_a_fusion(programs, left, right, named):
    program = programs(
        "0 | 64 | parameter 0, shape |s8[64]| at ShapeIndex {}\n1 | 8192 | preallocated-temp",
        """
        0 | lens | s8[64]    | 0    | 64   | 0-2 | parameter(0)
        1 | mask | s8[64,64] | 0    | 4096 | 1-2 | compare(lens) | jit(f)/ge
        1 | out  | s8[64,64] | 4096 | 4096 | 2-2 | fusion(lens, mask)
        """,
    )
    fused = ("add", "dot")
    program.instructions["out"] = program.instructions["out"]._replace(fused_opcodes=fused)
    program.stored.operations = operations_of_text(f"""HloModule jit_f
%added (x: s8[64], m: s8[64,64]) -> s8[64,64] {{
  %x = s8[64]{{0}} parameter(0)
  %m = s8[64,64]{{1,0}} parameter(1)
  %d = s8[64,64]{{1,0}} dot(%{left}, %{right})
  ROOT %a = s8[64,64]{{1,0}} add(%d, %m)
}}

ENTRY %main (lens: s8[64]) -> s8[64,64] {{
  %lens = s8[64]{{0}} parameter(0)
  %mask = s8[64,64]{{1,0}} compare(%lens, %lens), direction=GE
  ROOT %out = s8[64,64]{{1,0}} fusion(%lens, %mask), kind=kCustom, calls=%added
}}
""")
    assert [row["value"] for cause in inflated_values(program) for row in cause.rows] == named


@pytest.mark.parametrize(("direction", "remedy"), [("EQ", "Index with"), ("LT", "Compute it")])
def test_a_mask_of_labels_is_replaced_by_an_index(programs, direction, remedy):
    (cause,) = inflated_values(comparing_labels(programs, direction))
    assert cause.remedies["jax"].startswith(remedy)


@pytest.mark.parametrize("reader", ["multiply(hot)", "fusion(ids)"])
def test_a_mask_of_labels_that_selects_gradients_stays(programs, reader):
    """`jnp.take_along_axis` has a gradient of the same shape."""
    gradient = "jit(f)/transpose(jvp())/mul"
    assert not [*inflated_values(comparing_labels(programs, "EQ", reader, gradient))]


@pytest.mark.parametrize(("added", "named"), [("s32[64]{0}", ["hot"]), ("f32[64,64]{1,0}", [])])
def test_a_one_hot_matrix_may_have_a_weight_of_each_row(programs, added, named):
    program = programs(
        """
        0 | 256 | parameter 0, shape |s32[64]| at ShapeIndex {}
        1 | 256 | parameter 1, shape |f32[64]| at ShapeIndex {}
        2 | 32768 | preallocated-temp
        """,
        """
        0 | ids  | s32[64]    | 0     | 256   | 0-2 | parameter(0)
        1 | gate | f32[64]    | 0     | 256   | 0-2 | parameter(1)
        2 | hot  | f32[64,64] | 0     | 16384 | 1-2 | fusion(ids, gate) | jit(f)/mul
        2 | out  | f32[64,64] | 16384 | 16384 | 2-2 | dot(hot)
        """,
    )
    fused = ("add", "compare", "convert", "iota", "multiply")
    program.instructions["hot"] = program.instructions["hot"]._replace(fused_opcodes=fused)
    program.stored.operations = operations_of_text(f"""HloModule jit_f
%weighted (p: s32[64], g: f32[64]) -> f32[64,64] {{
  %p = s32[64]{{0}} parameter(0)
  %g = f32[64]{{0}} parameter(1)
  %a = {added} add(%p, %p)
  %i = s32[64,64]{{1,0}} iota(), iota_dimension=1
  %c = pred[64,64]{{1,0}} compare(%a, %i), direction=EQ
  %f = f32[64,64]{{1,0}} convert(%c)
  ROOT %m = f32[64,64]{{1,0}} multiply(%f, %g)
}}

ENTRY %main (ids: s32[64], gate: f32[64]) -> f32[64,64] {{
  %ids = s32[64]{{0}} parameter(0)
  %gate = f32[64]{{0}} parameter(1)
  ROOT %hot = f32[64,64]{{1,0}} fusion(%ids, %gate), kind=kLoop, calls=%weighted
}}
""")
    causes = list(one_hot_products(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named


def test_a_gpu_may_compare_stored_column_numbers_into_a_padded_matrix(programs):
    program = programs(
        """
        0 | 240   | parameter 0, shape |s32[60]| at ShapeIndex {}
        1 | 1024  | parameter 1, shape |f32[64,4]| at ShapeIndex {}
        2 | 32768 | preallocated-temp
        """,
        """
        0 | ids     | s32[60]    | 0     | 240   | 0-4 | parameter(0)
        1 | table   | f32[64,4]  | 0     | 1024  | 0-4 | parameter(1)
        2 | numbers | s32[60,64] | 0     | 15360 | 2-3 | iota()
        2 | padded  | f32[64,64] | 15360 | 16384 | 3-4 | fusion(ids, numbers)
        2 | out     | f32[64,4]  | 31744 | 1024  | 4-4 | dot(padded, table)
        """,
    )
    fused = ("broadcast", "compare", "convert", "pad")
    program.instructions["padded"] = program.instructions["padded"]._replace(fused_opcodes=fused)
    program.stored.operations = operations_of_text("""HloModule jit_f
%one_hot (p: s32[60], n: s32[60,64]) -> f32[64,64] {
  %p = s32[60]{0} parameter(0)
  %b = s32[60,64]{1,0} broadcast(%p), dimensions={0}
  %n = s32[60,64]{1,0} parameter(1)
  %c = pred[60,64]{1,0} compare(%b, %n), direction=EQ
  %f = f32[60,64]{1,0} convert(%c)
  %z = f32[] constant(0)
  ROOT %r = f32[64,64]{1,0} pad(%f, %z), padding=0_4x0_0
}

ENTRY %main (ids: s32[60], table: f32[64,4]) -> f32[64,4] {
  %ids = s32[60]{0} parameter(0)
  %table = f32[64,4]{1,0} parameter(1)
  %numbers = s32[60,64]{1,0} iota(), iota_dimension=1
  %padded = f32[64,64]{1,0} fusion(%ids, %numbers), kind=kLoop, calls=%one_hot
  ROOT %out = f32[64,4]{1,0} dot(%padded, %table), lhs_contracting_dims={1},\
    rhs_contracting_dims={0}
}
""")
    (cause,) = one_hot_products(program)
    assert {row["value"] for row in cause.rows} == {"numbers", "padded"}


@pytest.mark.parametrize(("direction", "named"), [("EQ", ["numbers"]), ("GE", [])])
def test_column_numbers_may_be_stored_and_compared_in_the_product(programs, direction, named):
    program = programs(
        """
        0 | 256 | parameter 0, shape |s32[64]| at ShapeIndex {}
        1 | 4096 | parameter 1, shape |f32[64,16]| at ShapeIndex {}
        2 | 20480 | preallocated-temp
        """,
        """
        0 | ids     | s32[64]    | 0     | 256   | 0-3 | parameter(0)
        1 | table   | f32[64,16] | 0     | 4096  | 0-3 | parameter(1)
        2 | numbers | s32[64,64] | 0     | 16384 | 2-3 | iota()
        2 | out     | f32[64,16] | 16384 | 4096  | 3-3 | fusion(ids, numbers, table)
        """,
    )
    fused = ("broadcast", "compare", "convert", "dot")
    program.instructions["out"] = program.instructions["out"]._replace(fused_opcodes=fused)
    program.stored.operations = operations_of_text(f"""HloModule jit_f
%product (p: s32[64], n: s32[64,64], t: f32[64,16]) -> f32[64,16] {{
  %p = s32[64]{{0}} parameter(0)
  %b = s32[64,64]{{1,0}} broadcast(%p), dimensions={{0}}
  %n = s32[64,64]{{1,0}} parameter(1)
  %c = pred[64,64]{{1,0}} compare(%b, %n), direction={direction}
  %f = f32[64,64]{{1,0}} convert(%c)
  %t = f32[64,16]{{1,0}} parameter(2)
  ROOT %d = f32[64,16]{{1,0}} dot(%f, %t), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}

ENTRY %main (ids: s32[64], table: f32[64,16]) -> f32[64,16] {{
  %ids = s32[64]{{0}} parameter(0)
  %table = f32[64,16]{{1,0}} parameter(1)
  %numbers = s32[64,64]{{1,0}} iota(), iota_dimension=1
  ROOT %out = f32[64,16]{{1,0}} fusion(%ids, %numbers, %table), kind=kLoop, calls=%product
}}
""")
    causes = list(one_hot_products(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named
