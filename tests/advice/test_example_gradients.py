"""`advise` names gradients that are kept for each example, and nothing that looks like them."""

from fractions import Fraction

import pytest

from xlagraph.advice.causes.parameter_gradients import per_example_gradients
from xlagraph.planner.dimensions.stored_operations import operations_of_text


def changed(cause):
    assert cause.edit is not None
    return cause.edit


def example_gradients(programs, forward, backward, examples=8):
    mark = f" | jit(f)/{forward}/tanh" if forward else ""
    program = programs(
        "0 | 1024 | parameter 0, shape |s8[32,32]| at ShapeIndex {}\n1 | 16384 | preallocated-temp",
        f"""
        0 | w | s8[32,32]   | 0    | 1024 | 0-3 | parameter(0)
        1 | a | s8[{examples},32] | 8192 | {examples * 32} | 1-2 | fusion(w){mark}
        1 | g | s8[8,32,32] | 0    | 8192 | 2-3 | fusion(a) | jit(f)/{backward}/dot
        """,
    )
    return list(per_example_gradients(program))


def test_gradients_of_each_example_have_a_parameter_behind_the_batch(programs):
    (cause,) = example_gradients(programs, "vmap(jvp())", "vmap(transpose(jvp()))")
    assert [row["value"] for row in cause.rows] == ["g"]
    # a loop over groups of examples computes the activations of one group too
    assert changed(cause).kept_by_label == {"g": Fraction(1, 8), "a": Fraction(1, 8)}
    assert cause.rows[0]["reason"] == "values for each of 8 examples, each of the shape of w"


def test_a_loop_over_groups_of_examples_needs_less_without_a_name(programs):
    """A compiler that expands a pooling gives what it makes no names."""
    (cause,) = example_gradients(programs, "", "vmap(jit(norm))/vmap(transpose(jvp()))")
    assert changed(cause).kept_by_label == {"g": Fraction(1, 8), "a": Fraction(1, 8)}


@pytest.mark.parametrize(
    ("forward", "backward", "examples"),
    [
        ("jvp()", "vmap(transpose(jvp()))", 8),  # jacrev with respect to the parameter
        ("vmap(jvp())", "vmap(vmap(transpose(jvp())))", 8),  # jacrev for each example
        ("vmap(jvp())", "transpose(jvp(mlp))", 8),
        ("vmap(jvp())", "vmap(transpose(jvp()))", 16),  # parts of a product, added up afterwards
    ],
)
def test_a_jacobian_is_not_a_gradient_of_each_example(programs, forward, backward, examples):
    assert example_gradients(programs, forward, backward, examples) == []


@pytest.mark.parametrize(
    ("backward", "count"),
    [
        ("vmap(transpose(jvp()))/checkpoint/rematted_computation", 0),
        ("vmap(transpose(jvp()))/checkpoint", 1),
        # the gradient itself is recomputed for an outer one
        ("transpose(jvp())/checkpoint/rematted_computation/vmap(transpose(jvp()))", 1),
    ],
)
def test_an_activation_that_a_checkpoint_recomputes_is_no_gradient(programs, backward, count):
    """Rows of several networks have the shape of a bias of each network behind the rows."""
    assert len(example_gradients(programs, "vmap(jvp())", backward)) == count


def test_labels_of_the_shape_have_no_gradient(programs):
    program = programs(
        """
        0 | 4096 | parameter 0, shape |s32[32,32]| at ShapeIndex {}
        2 | 16 | parameter 1, shape |f32[4]| at ShapeIndex {}
        1 | 49152 | preallocated-temp
        """,
        """
        0 | y | s32[32,32]   | 0     | 4096  | 0-3 | parameter(0)
        2 | w | f32[4]       | 0     | 16    | 0-3 | parameter(1)
        1 | a | f32[8,32]    | 32768 | 1024  | 1-2 | fusion(w) | jit(f)/vmap(jvp())/tanh
        1 | g | f32[8,32,32] | 0     | 32768 | 2-3 | fusion(a) | jit(f)/vmap(transpose(jvp()))/dot
        """,
    )
    assert list(per_example_gradients(program)) == []


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        pytest.param("broadcast(zero), dimensions={}", [], id="stages of a solver"),
        pytest.param("broadcast(x), dimensions={0}", ["g"], id="a batch"),
    ],
)
def test_examples_are_a_dimension_of_an_input(programs, stages, expected):
    opcode = stages.partition("(")[0]
    program = programs(
        """
        0 | 1024 | parameter 0, shape |s8[32,32]| at ShapeIndex {}
        2 | 8 | parameter 1, shape |s8[8]| at ShapeIndex {}
        1 | 16384 | preallocated-temp
        """,
        f"""
        0 | w | s8[32,32]   | 0    | 1024 | 0-3 | parameter(0)
        2 | x | s8[8]       | 0    | 8    | 0-3 | parameter(1)
        1 | a | s8[8,32]    | 8192 | 256  | 1-2 | {opcode}() | jit(f)/vmap(jvp())/t
        1 | g | s8[8,32,32] | 0    | 8192 | 2-3 | fusion(a, w) | jit(f)/vmap(transpose(jvp()))/dot
        """,
    )
    program.stored.operations = operations_of_text(f"""HloModule m

c {{
  p = s8[8,32]{{1,0}} parameter(0)
  q = s8[32,32]{{1,0}} parameter(1)
  b = s8[8,32,32]{{2,1,0}} broadcast(p), dimensions={{0,1}}
  r = s8[8,32,32]{{2,1,0}} broadcast(q), dimensions={{1,2}}
  ROOT m = s8[8,32,32]{{2,1,0}} multiply(b, r)
}}

ENTRY e {{
  w = s8[32,32]{{1,0}} parameter(0)
  x = s8[8]{{0}} parameter(1)
  zero = s8[] constant(0)
  a = s8[8,32]{{1,0}} {stages}
  ROOT g = s8[8,32,32]{{2,1,0}} fusion(a, w), kind=kLoop, calls=c
}}
""")
    assert [
        row["value"] for each in per_example_gradients(program) for row in each.rows
    ] == expected


@pytest.mark.parametrize(("reader", "expected"), [("multiply", ["g"]), ("slice", [])])
def test_a_field_of_each_example_of_which_parts_are_read_is_no_gradient(programs, reader, expected):
    program = programs(
        "0 | 1024 | parameter 0, shape |s8[32,32]| at ShapeIndex {}\n1 | 16640 | preallocated-temp",
        f"""
        0 | c | s8[32,32]   | 0    | 1024 | 0-4 | parameter(0)
        1 | a | s8[8,32]    | 8192 | 256  | 1-2 | fusion(c)   | jit(f)/vmap(jvp())/sin
        1 | g | s8[8,32,32] | 0    | 8192 | 2-3 | fusion(a)   | jit(f)/vmap(transpose(jvp()))/add
        1 | r | s8[8,32,31] | 8448 | 7936 | 3-4 | {reader}(g) | jit(f)/vmap(transpose(jvp()))/roll
        """,
    )
    found = [row["value"] for cause in per_example_gradients(program) for row in cause.rows]
    assert found == expected


@pytest.mark.parametrize(("made", "expected"), [("s8[8,32,32]", ["g"]), ("s8[8,4,32,32]", [])])
def test_parameters_that_each_example_trains_for_its_rows_are_no_gradient(programs, made, expected):
    size = 32768 if "4" in made else 8192
    program = programs(
        f"""
        0 | 1024 | parameter 0, shape |s8[32,32]| at ShapeIndex {{}}
        1 | {8448 + size} | preallocated-temp
        """,
        f"""
        0 | w | s8[32,32]   | 0    | 1024 | 0-4 | parameter(0)
        1 | a | s8[8,32]    | 8192 | 256  | 1-2 | fusion(w) | jit(f)/vmap(jvp())/tanh
        1 | g | s8[8,32,32] | 0    | 8192 | 2-4 | fusion(a) | jit(f)/vmap(transpose(jvp()))/dot
        1 | y | {made} | 8448 | {size} | 3-4 | fusion(g) | jit(f)/vmap()/add
        """,
    )
    found = [row["value"] for cause in per_example_gradients(program) for row in cause.rows]
    assert found[:1] == expected


@pytest.mark.parametrize(("rows", "expected"), [("s8[8,1024]", ["g"]), ("s8[256,32]", [])])
def test_directions_of_each_example_that_a_product_reads_are_no_gradient(programs, rows, expected):
    program = programs(
        "0 | 1024 | parameter 0, shape |s8[32,32]| at ShapeIndex {}\n1 | 32768 | preallocated-temp",
        f"""
        0 | c | s8[32,32]   | 0    | 1024 | 0-5 | parameter(0)
        1 | a | s8[8,32]    | 8192 | 256  | 1-2 | fusion(c)   | jit(f)/vmap(jvp())/sin
        1 | g | s8[8,32,32] | 0    | 8192 | 2-3 | fusion(a)   | transpose(jvp(vmap(jvp())))/add
        1 | r | {rows} | 8448 | 8192 | 3-4 | fusion(g) | transpose(jvp(vmap(jvp())))/mul
        1 | d | s8[32] | 16640 | 32 | 4-5 | dot(r) | transpose(jvp(vmap(jvp())))/dot
        """,
    )
    found = [row["value"] for cause in per_example_gradients(program) for row in cause.rows]
    assert found == expected


@pytest.mark.parametrize(
    ("read", "added", "returned", "expected"),
    [
        ("a, b", "reduce", "s", ["g", "q"]),
        ("a, b", "sort", "s", []),
        ("w, b", "reduce", "s", []),  # as the gradient of what is added to every example
        ("a, c", "reduce", "s", []),  # no gradient: both factors are of the forward pass
        ("a, b", "reduce", "b", []),  # w is data: it has no new value
    ],
)
def test_products_of_two_values_of_each_example_that_are_added(
    returning, read, added, returned, expected
):
    program = returning(
        "0 | 1024 | parameter 0, shape |s8[32,32]| at ShapeIndex {}\n1 | 10240 | preallocated-temp",
        f"""
        0 | w | s8[32,32]   | 0    | 1024 | 0-5 | parameter(0)
        1 | a | s8[8,32]    | 0    | 256  | 1-4 | fusion(w) | jit(f)/jvp(ode)/tanh
        1 | c | s8[8,32]    | 256  | 256  | 2-4 | fusion(w) | jit(f)/jvp(ode)/sin
        1 | b | s8[8,32]    | 512  | 256  | 3-4 | fusion(a) | jit(f)/transpose(jvp(ode))/mul
        1 | g | s8[8,32,32] | 1024 | 8192 | 4-6 | fusion({read}) | jit(f)/add
        1 | s | s8[32,32]   | 9216 | 1024 | 5-7 | {added}(g)
        1 | q | s8[8,32,32] | 1024 | 8192 | 6-7 | fusion({read}) | jit(f)/square
        1 | n | s8[8]       | 0    | 8    | 7-7 | reduce(q)
        """,
        returned,
    )
    found = [row["value"] for cause in per_example_gradients(program) for row in cause.rows]
    assert found == expected


@pytest.mark.parametrize(
    ("opcode", "named"), [("broadcast", ["g", "n"]), pytest.param("tanh", ["g"], id="other values")]
)
def test_a_number_of_each_example_may_be_repeated_to_scale_the_gradients(programs, opcode, named):
    program = programs(
        "0 | 1024 | parameter 0, shape |s8[32,32]| at ShapeIndex {}\n1 | 17664 | preallocated-temp",
        f"""
        0 | w | s8[32,32]   | 0     | 1024 | 0-5 | parameter(0)
        1 | a | s8[8,32]    | 8192  | 256  | 1-2 | fusion(w) | jit(f)/vmap(jvp())/tanh
        1 | g | s8[8,32,32] | 0     | 8192 | 2-4 | fusion(a) | jit(f)/vmap(transpose(jvp()))/dot
        1 | n | s8[8,32,32] | 8448  | 8192 | 3-4 | {opcode}(w) | jit(f)/mul
        1 | s | s8[32,32]   | 16640 | 1024 | 4-5 | fusion(g, n) | jit(f)/reduce_sum
        """,
    )
    summed = program.instructions["s"]._replace(fused_opcodes=("multiply", "reduce"))
    program.instructions["s"] = summed
    found = [row["value"] for cause in per_example_gradients(program) for row in cause.rows]
    assert found == named


def test_a_pair_of_particles_is_no_gradient_of_one(returning):
    program = returning(
        "0 | 64 | parameter 0, shape |s8[32,2]| at ShapeIndex {}\n1 | 3200 | preallocated-temp",
        """
        0 | x | s8[32,2]    | 0    | 64   | 0-4 | parameter(0)
        1 | c | s8[32,32]   | 0    | 1024 | 1-3 | fusion(x) | jit(f)/transpose(jvp())/mul
        1 | g | s8[32,32,2] | 1024 | 2048 | 2-4 | fusion(x, c) | jit(f)/transpose(jvp())/mul
        1 | s | s8[32,2]    | 3072 | 64   | 3-4 | reduce(g)
        """,
        "s",
    )
    assert list(per_example_gradients(program)) == []


@pytest.mark.parametrize(
    ("kept", "shape", "expected"),
    [
        pytest.param("{0}", "s8[8]", ["g"], id="for a norm"),
        pytest.param("{0,2}", "s8[8,4]", [], id="over the other points of each pair"),
    ],
)
def test_a_gradient_of_pairs_of_points_is_none_of_an_example(programs, kept, shape, expected):
    summed = "{1,2}" if kept == "{0}" else "{1}"
    program = programs(
        """
        0 | 64 | parameter 0, shape |s8[16,4]| at ShapeIndex {}
        2 | 32 | parameter 1, shape |s8[8,4]| at ShapeIndex {}
        1 | 1024 | preallocated-temp
        """,
        f"""
        0 | y | s8[16,4]   | 0   | 64  | 0-3 | parameter(0)
        2 | x | s8[8,4]    | 0   | 32  | 0-3 | parameter(1)
        1 | g | s8[8,16,4] | 0   | 512 | 1-2 | fusion(x, y) | transpose(jvp(vmap(vmap(jvp()))))/mul
        1 | s | {shape}    | 512 | 32  | 2-3 | reduce(g)    | transpose(jvp())/reduce_sum
        """,
    )
    program.stored.operations = operations_of_text(f"""HloModule m

c {{
  p = s8[8,4]{{1,0}} parameter(0)
  q = s8[16,4]{{1,0}} parameter(1)
  b = s8[8,16,4]{{2,1,0}} broadcast(p), dimensions={{0,2}}
  r = s8[8,16,4]{{2,1,0}} broadcast(q), dimensions={{1,2}}
  ROOT m = s8[8,16,4]{{2,1,0}} multiply(b, r)
}}

sum {{
  one = s8[] parameter(0)
  other = s8[] parameter(1)
  ROOT both = s8[] add(one, other)
}}

ENTRY e {{
  y = s8[16,4]{{1,0}} parameter(0)
  x = s8[8,4]{{1,0}} parameter(1)
  zero = s8[] constant(0)
  g = s8[8,16,4]{{2,1,0}} fusion(x, y), kind=kLoop, calls=c
  ROOT s = {shape} reduce(g, zero), dimensions={summed}, to_apply=sum
}}
""")
    found = [row["value"] for cause in per_example_gradients(program) for row in cause.rows]
    assert found == expected
