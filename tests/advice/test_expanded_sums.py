"""`advise` names values of which several sums are read, and joined in one fusion."""

import pytest

from tests.advice.small_compilations import with_results
from xlagraph.advice.causes.expanded_values import expanded_values
from xlagraph.planner.dimensions.stored_operations import operations_of_text

GIVEN = """
0 | 256  | parameter 0, shape |f32[32,2]| at ShapeIndex {}
1 | 512  | parameter 1, shape |f32[64,2]| at ShapeIndex {}
2 | 33280 | preallocated-temp
3 | 256 | maybe-live-out
"""
JOINED = """HloModule m
%joined (k: f32[32,64], s: f32[]) -> f32[] {{
  k = f32[32,64]{{1,0}} parameter(0)
  s = f32[] parameter(1)
  w = f32[32,64]{{1,0}} broadcast({scale}), dimensions={{}}
  p = f32[32,64]{{1,0}} multiply(k, w)
  zero = f32[] constant(0)
  t = f32[] reduce(p, zero), dimensions={{0,1}}, to_apply=add
  ROOT both = f32[] add(t, s)
}}

ENTRY e {{
  x = f32[32,2]{{1,0}} parameter(0)
  y = f32[64,2]{{1,0}} parameter(1)
  k = f32[32,64]{{1,0}} dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  zero = f32[] constant(0)
  s = f32[] reduce(k, zero), dimensions={{0,1}}, to_apply=add
  ROOT r = f32[] fusion(k, s), kind=kInput, calls=%joined
}}
"""


@pytest.mark.parametrize(
    ("scale", "named"),
    [
        pytest.param("zero", ["k"], id="two sums, added to each other"),
        pytest.param("s", [], id="each term of the second sum needs the first sum"),
    ],
)
def test_a_fusion_may_add_its_sum_to_other_sums(programs, scale, named):
    program = programs(
        GIVEN,
        """
        0 | x | f32[32,2]  | 0    | 256  | 0-4 | parameter(0)
        1 | y | f32[64,2]  | 0    | 512  | 0-4 | parameter(1)
        2 | k | f32[32,64] | 0    | 8192 | 1-3 | dot(x, y)
        3 | s | f32[]      | 0    | 4    | 2-4 | reduce(k)
        3 | r | f32[]      | 4    | 4    | 3-4 | fusion(k, s)
        """,
    )
    fused = ("add", "broadcast", "multiply", "reduce")
    program.instructions["r"] = program.instructions["r"]._replace(fused_opcodes=fused)
    program.stored.operations = operations_of_text(JOINED.format(scale=scale))
    with_results(program, "r")
    found = [row["value"] for cause in expanded_values(program, ()) for row in cause.rows]
    assert found == named


@pytest.mark.parametrize(
    ("line", "count", "is_named"),
    [
        pytest.param("f.py:5", 12, True, id="one line for all layers"),
        pytest.param("f.py:{}", 12, False, id="a line for each, with too few bytes"),
        pytest.param("f.py:{}", 6, True, id="a line for each, with enough bytes"),
    ],
)
def test_values_of_one_line_count_together(programs, line, count, is_named):
    layers, last, sums = range(count), 2 * count + 1, 8192 * count
    values, module = "", ""
    for n in layers:
        place, begin, end = line.format(n), n + 1, n + 1 + count
        values += f"""
        2 | k{n} | f32[32,64] | {8192 * n} | 8192 | {begin}-{end} | dot(x, y) | jit(f)/e @ {place}
        2 | s{n} | f32[64] | {sums + 256 * n} | 256 | {end}-{last} | reduce(k{n}) | jit(f)/s @ g:8
        """
        module += f"""
  k{n} = f32[32,64]{{1,0}} dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  s{n} = f32[64]{{0}} reduce(k{n}, zero), dimensions={{0}}, to_apply=add"""
    rows = [row for row in values.splitlines() if row.strip()]
    values = "\n".join(rows[::2] + rows[1::2])
    program = programs(
        GIVEN.replace("33280", str(8448 * count)),
        f"""
        0 | x | f32[32,2] | 0 | 256 | 0-{last} | parameter(0)
        1 | y | f32[64,2] | 0 | 512 | 0-{last} | parameter(1)
        {values}
        3 | r | f32[64] | 0 | 256 | {last}-{last} | add({", ".join(f"s{n}" for n in layers)})
        """,
    )
    program.stored.operations = operations_of_text(f"""HloModule m

ENTRY e {{
  x = f32[32,2]{{1,0}} parameter(0)
  y = f32[64,2]{{1,0}} parameter(1)
  zero = f32[] constant(0){module}
  ROOT r = f32[64]{{0}} add(s0, s1)
}}
""")
    with_results(program, "r")
    found = [row["value"] for each in expanded_values(program, ()) for row in each.rows]
    assert sorted(map(str, found)) == sorted(f"k{n}" for n in layers if is_named)


def test_rows_of_a_result_of_a_fusion_are_counted_before_they_are_summed_in_two_steps(programs):
    program = programs(
        GIVEN,
        """
        0 | x | f32[32,2] | 0 | 256 | 0-4 | parameter(0)
        1 | y | f32[64,2] | 0 | 512 | 0-4 | parameter(1)
        2 | both{0} | f32[32,64] | 0 | 8192 | 1-3 | fusion(x, y)
        2 | both{1} | f32[32] | 33024 | 128 | 1-3 | fusion(x, y)
        3 | s | f32[8] | 0 | 32 | 2-4 | reduce(both{0}) | jit(f)/s @ f.py:8
        """,
    )
    program.stored.operations = operations_of_text("""HloModule m
%fused (a: f32[32,2], b: f32[64,2]) -> (f32[32,64], f32[32]) {
  a = f32[32,2]{1,0} parameter(0)
  b = f32[64,2]{1,0} parameter(1)
  k = f32[32,64]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  n = f32[] constant(0)
  t = f32[32]{0} reduce(a, n), dimensions={1}, to_apply=add
  ROOT both = (f32[32,64]{1,0}, f32[32]{0}) tuple(k, t)
}

ENTRY e {
  x = f32[32,2]{1,0} parameter(0)
  y = f32[64,2]{1,0} parameter(1)
  both = (f32[32,64]{1,0}, f32[32]{0}) fusion(x, y), kind=kInput, calls=%fused
  k = f32[32,64]{1,0} get-tuple-element(both), index=0
  zero = f32[] constant(0)
  parts = f32[8,4,64]{2,1,0} bitcast(k)
  ROOT s = f32[8]{0} reduce(parts, zero), dimensions={1,2}, to_apply=add
}
""")
    with_results(program, "s")
    (cause,) = expanded_values(program, ())
    assert "for all 32 rows" in str(cause.rows[0]["reason"])


SCATTERED = """HloModule m
region {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] {combined}(a, b)
}}

ENTRY e {{
  x = f32[32,2]{{1,0}} parameter(0)
  y = f32[64,2]{{1,0}} parameter(1)
  k = f32[32,64]{{1,0}} dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  z = f32[4]{{0}} iota(), iota_dimension=0
  i = s32[32,64]{{1,0}} convert(k)
  ROOT s = f32[4]{{0}} scatter(z, i, k), index_vector_dim=2, to_apply=region
}}
"""


@pytest.mark.parametrize(("combined", "named"), [("add", ["i", "k"]), ("maximum", [])])
def test_a_scatter_that_adds_to_few_elements_is_a_sum(programs, combined, named):
    program = programs(
        GIVEN,
        """
        0 | x | f32[32,2]  | 0    | 256  | 0-4 | parameter(0)
        1 | y | f32[64,2]  | 0    | 512  | 0-4 | parameter(1)
        2 | k | f32[32,64] | 0    | 8192 | 1-3 | dot(x, y)
        2 | i | s32[32,64] | 8192 | 8192 | 2-3 | convert(k)
        3 | z | f32[4]     | 0    | 16   | 2-3 | iota()
        3 | s | f32[4]     | 16   | 16   | 3-4 | scatter(z, i, k)
        """,
    )
    program.stored.operations = operations_of_text(SCATTERED.format(combined=combined))
    with_results(program, "s")
    found = [row["value"] for cause in expanded_values(program, ()) for row in cause.rows]
    assert sorted(map(str, found)) == named


WINDOWS = """HloModule m

ENTRY e {{
  x = f32[32,2]{{1,0}} parameter(0)
  y = f32[32,2]{{1,0}} parameter(1)
  k = f32[32,32]{{1,0}} dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  zero = f32[] constant(0)
  w = f32[32,32]{{1,0}} reduce-window(k, zero), window={{size={size} pad={pad}}}, to_apply=add
  ROOT s = f32[] reduce(w, zero), dimensions={{0,1}}, to_apply=add
}}
"""


@pytest.mark.parametrize(
    ("size", "pad", "named"),
    [
        pytest.param("1x32", "0_0x31_0", ["k", "w"], id="sums along each row"),
        pytest.param("32x32", "31_0x31_0", [], id="sums of several rows"),
    ],
)
def test_sums_of_the_elements_so_far_belong_to_their_rows(programs, size, pad, named):
    program = programs(
        GIVEN.replace("64,2", "32,2").replace("512", "256"),
        """
        0 | x | f32[32,2]  | 0    | 256  | 0-4 | parameter(0)
        1 | y | f32[32,2]  | 0    | 256  | 0-4 | parameter(1)
        2 | k | f32[32,32] | 0    | 4096 | 1-3 | dot(x, y)
        2 | w | f32[32,32] | 4096 | 4096 | 2-4 | reduce-window(k)
        3 | s | f32[]      | 0    | 4    | 3-4 | reduce(w)
        """,
    )
    program.stored.operations = operations_of_text(WINDOWS.format(size=size, pad=pad))
    with_results(program, "s")
    found = [row["value"] for cause in expanded_values(program, ()) for row in cause.rows]
    assert sorted(map(str, found)) == named


CONVOLVED = """HloModule m

ENTRY e {{
  x = f32[32,2]{{1,0}} parameter(0)
  y = f32[64,2]{{1,0}} parameter(1)
  k = f32[32,64]{{1,0}} convolution(x, y), dim_labels=bf_oi->bf
  ROOT r = {convolution}
}}
"""


@pytest.mark.parametrize(
    ("convolution", "named"),
    [
        pytest.param(
            "f32[32,2]{1,0} convolution(k, y), dim_labels=bf_io->bf",
            ["k"],
            id="products, as a TPU computes them",
        ),
        pytest.param(
            "f32[1,32,2]{2,1,0} convolution(k, y), window={size=3}, dim_labels=b0f_0io->b0f",
            [],
            id="a filter needs rows around a row",
        ),
        pytest.param(
            "f32[1,1,2]{2,1,0} convolution(k, y), window={size=32}, dim_labels=b0f_0io->b0f",
            ["k"],
            id="all rows are contracted",
        ),
    ],
)
def test_a_convolution_without_a_window_is_a_product(programs, convolution, named):
    program = programs(
        GIVEN,
        """
        0 | x | f32[32,2]  | 0    | 256  | 0-3 | parameter(0)
        1 | y | f32[64,2]  | 0    | 512  | 0-3 | parameter(1)
        2 | k | f32[32,64] | 0    | 8192 | 1-3 | convolution(x, y)
        3 | r | f32[32,2]  | 0    | 256  | 2-3 | convolution(k, y)
        """,
    )
    program.stored.operations = operations_of_text(CONVOLVED.format(convolution=convolution))
    with_results(program, "r")
    found = [row["value"] for cause in expanded_values(program, ()) for row in cause.rows]
    assert found == named
