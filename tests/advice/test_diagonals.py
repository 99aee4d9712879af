"""`advise` names matrices of which only the diagonal is read."""

import pytest

from tests.advice.small_compilations import share_one_buffer_set
from xlagraph.advice.causes.diagonals import diagonals
from xlagraph.planner.dimensions.stored_operations import operations_of_text

GATHERED = """
  %i = s32[64,1]{1,0} iota(), iota_dimension=0
  %n = s32[64,2]{1,0} concatenate(%i, %i), dimensions={1}
  ROOT %g = s8[64,1,1]{2,1,0} gather(%p, %n), offset_dims={1,2}, slice_sizes={1,1}
"""
MASKED = """
  %i = s32[64,64]{1,0} iota(), iota_dimension=0
  %j = s32[64,64]{1,0} iota(), iota_dimension=1
  %c = pred[64,64]{1,0} compare(%i, %j), direction=EQ
  %z = s8[64,64]{1,0} broadcast(%zero), dimensions={}
  ROOT %s = s8[64,64]{1,0} select(%c, %p, %z)
"""


def named(program_of, reading, opcode="fusion", made="dot(x)"):
    """Return the values that are named, with reasons, if `diag` reads a product in this way."""
    program = program_of(
        "0 | 64 | parameter 0, shape |s8[64]| at ShapeIndex {}\n1 | 16384 | preallocated-temp",
        f"""
        0 | x    | s8[64]    | 0     | 64   | 0-6 | parameter(0)
        1 | raw  | s8[64,64] | 8192  | 4096 | 1-3 | dot(x)
        1 | sine | s8[64,64] | 12288 | 4096 | 2-4 | sine(raw)
        1 | all  | s8[64,64] | 0     | 4096 | 3-5 | {made}      | jit(f)/dot_general @ f.py:2
        1 | diag | s8[64]    | 4096  | 64   | 4-6 | {opcode}(all) | jit(f)/diagonal @ f.py:3
        1 | out  | s8[64]    | 4160  | 64   | 5-6 | negate(diag)
        """,
    )
    program.stored.operations = operations_of_text(f"""HloModule jit_f

%reading (p: s8[64,64]) -> s8[64] {{
  %p = s8[64,64]{{1,0}} parameter(0)
  %zero = s8[] constant(0){reading}}}

%numbered () -> s32[64,2] {{
  %i.1 = s32[64,1]{{1,0}} iota(), iota_dimension=0
  ROOT %n.1 = s32[64,2]{{1,0}} concatenate(%i.1, %i.1), dimensions={{1}}
}}

ENTRY %main (x: s8[64,64]) -> s8[64] {{
  %all = s8[64,64]{{1,0}} parameter(0)
  %numbers = s32[64,2]{{1,0}} fusion(), calls=%numbered
  ROOT %diag = s8[64]{{0}} {opcode}(%all, %numbers){", calls=%reading" * (opcode == "fusion")}
}}
""")
    return [(row["value"], row["reason"]) for each in diagonals(program) for row in each.rows]


@pytest.mark.parametrize(
    "reading",
    [
        pytest.param(GATHERED, id="jnp.diag"),
        pytest.param(MASKED, id="jnp.trace"),
        pytest.param(
            "\n  %e = s8[64,64]{1,0} negate(%p)" + GATHERED.replace("%p", "%e"), id="of -a @ b.T"
        ),
        pytest.param(
            """
  %n = s32[64,2]{1,0} parameter(1)
"""
            + GATHERED.split("\n", 3)[3],
            id="with numbers that another fusion makes",
        ),
    ],
)
def test_a_product_of_which_only_the_diagonal_is_read_is_named_with_its_reader(programs, reading):
    reason = "f.py:3 reads only its diagonal, 64 of 64 × 64 elements"
    assert named(programs, reading) == [("all", reason)]


@pytest.mark.parametrize(
    "reading",
    [
        pytest.param(GATHERED.replace("(%i, %i)", "(%i, %zero)"), id="another column"),
        pytest.param(GATHERED.replace("{1,1}", "{1,2}"), id="two columns"),
        pytest.param("\n  ROOT %e = s8[64,64]{1,0} negate(%p)", id="all elements"),
        pytest.param(MASKED.replace("direction=EQ", "direction=GE"), id="a triangle"),
        pytest.param(MASKED.replace("(%i, %j)", "(%i, %i)"), id="all"),
        pytest.param(MASKED.replace("(%c, %p, %z)", "(%c, %z, %p)"), id="all but the diagonal"),
        pytest.param(MASKED.replace("broadcast(%zero)", "negate(%p)"), id="read twice"),
    ],
)
def test_a_matrix_of_which_something_reads_more_is_needed(programs, reading):
    assert named(programs, reading) == []


def test_a_reader_of_another_opcode_needs_the_matrix(programs):
    assert named(programs, GATHERED, opcode="custom-call") == []


@pytest.mark.parametrize(
    ("made", "values"),
    [("multiply(raw, sine)", ["all", "sine", "raw"]), ("dot(raw, sine)", ["all"])],
)
def test_what_is_computed_for_the_matrix_alone_is_named_with_it(programs, made, values):
    assert [value for value, _ in named(programs, GATHERED, made=made)] == values


@pytest.mark.parametrize(
    ("lengths", "computed", "values"),
    [
        ("64,64", "add(%p0, %d)", ["all", "raw"]),
        pytest.param("64,64", "transpose(%p0), dimensions={1,0}", ["all"], id="in another order"),
        ("64,64,2", "reduce(%p0, %zero), dimensions={2}, to_apply=%add", ["all", "raw"]),
        pytest.param(
            "64,64,64", "reduce(%p0, %zero), dimensions={1}, to_apply=%add", ["all"], id="rows"
        ),
    ],
)
def test_a_kernel_that_computes_with_each_element_of_another_matrix_is_all_that_needs_it(
    programs, lengths, computed, values
):
    program = programs(
        "0 | 64 | parameter 0, shape |s8[64]| at ShapeIndex {}\n1 | 16384 | preallocated-temp",
        f"""
        0 | x    | s8[64]    | 0    | 64   | 0-4 | parameter(0)
        1 | raw  | s8[{lengths}] | 4096 | 4096 | 1-3 | dot(x)
        1 | all  | s8[64,64] | 0    | 4096 | 2-4 | fusion(x, raw)
        1 | diag | s8[64]    | 8192 | 64   | 3-4 | fusion(all) | jit(f)/diagonal @ f.py:3
        """,
    )
    kernel = program.instructions["all"]._replace(fused_opcodes=("reduce", "add", "transpose"))
    program.instructions["all"] = kernel
    program.stored.operations = operations_of_text(f"""HloModule jit_f

%kernel (p0: s8[{lengths}], p1: s8[64]) -> s8[64,64] {{
  %p0 = s8[{lengths}] parameter(0)
  %p1 = s8[64]{{0}} parameter(1)
  %b = s8[64,64,2]{{2,1,0}} broadcast(%p1), dimensions={{0}}
  %zero = s8[] constant(0)
  %d = s8[64,64]{{1,0}} reduce(%b, %zero), dimensions={{2}}, to_apply=%add
  ROOT %sum = s8[64,64]{{1,0}} {computed}
}}

%reading (p: s8[64,64]) -> s8[64] {{
  %p = s8[64,64]{{1,0}} parameter(0)
  %zero.1 = s8[] constant(0){GATHERED}}}

ENTRY %main (x: s8[64]) -> s8[64] {{
  %x = s8[64]{{0}} parameter(0)
  %raw = s8[{lengths}] dot(%x, %x)
  %all = s8[64,64]{{1,0}} fusion(%raw, %x), kind=kCustom, calls=%kernel
  ROOT %diag = s8[64]{{0}} fusion(%all), kind=kLoop, calls=%reading
}}
""")
    (cause,) = diagonals(program)
    assert [row["value"] for row in cause.rows] == values


DIAGONAL = """
  %i = s32[64,64]{1,0} iota(), iota_dimension=0
  %j = s32[64,64]{1,0} iota(), iota_dimension=1
  %c = pred[64,64]{1,0} compare(%i, %j), direction=EQ
  %b = s8[64,64]{1,0} broadcast(%v), dimensions={0}
  %z = s8[64,64]{1,0} broadcast(%zero), dimensions={}
  ROOT %s = s8[64,64]{1,0} select(%c, %b, %z)
"""


def named_factor(program_of, making=DIAGONAL, reading="dot(d, m)", gradient="negate(g)"):
    """Return titles and values that are named, if `m` is made in this way, and read in that."""
    program = program_of(
        "0 | 64 | parameter 0, shape |s8[64]| at ShapeIndex {}\n1 | 16384 | preallocated-temp",
        f"""
        0 | d    | s8[64]    | 0    | 64   | 0-5 | parameter(0)
        1 | m    | s8[64,64] | 0    | 4096 | 1-2 | fusion(d)      | jit(f)/diag @ f.py:2
        1 | out  | s8[64]    | 8192 | 64   | 2-5 | {reading}      | jit(f)/dot @ f.py:3
        1 | g    | s8[64,64] | 4096 | 4096 | 3-4 | dot(d)         | jit(f)/transpose @ f.py:3
        1 | back | s8[64]    | 8256 | 64   | 4-5 | {gradient}     | jit(f)/diag @ f.py:2
        """,
    )
    kernel = program.instructions["m"]._replace(fused_opcodes=("select", "compare", "iota"))
    program.instructions["m"] = kernel
    program.stored.operations = operations_of_text(f"""HloModule jit_f

%making (v: s8[64]) -> s8[64,64] {{
  %v = s8[64]{{0}} parameter(0)
  %zero = s8[] constant(0){making}}}

%reading (p: s8[64,64]) -> s8[64] {{
  %p = s8[64,64]{{1,0}} parameter(0)
  %zero.1 = s8[] constant(0){GATHERED.replace("%i", "%i.1").replace("%n", "%n.1")}}}

ENTRY %main (d: s8[64]) -> s8[64] {{
  %d = s8[64]{{0}} parameter(0)
  %m = s8[64,64]{{1,0}} fusion(%d), calls=%making
  %g = s8[64,64]{{1,0}} dot(%d)
  ROOT %back = s8[64]{{0}} fusion(%g), calls=%reading
}}
""")
    return {cause.title: [row["value"] for row in cause.rows] for cause in diagonals(program)}


FACTOR = "A diagonal matrix is stored for a product"
READ = "A matrix is computed of which only the diagonal is read"


def test_a_diagonal_matrix_that_only_products_read_is_named(programs):
    assert named_factor(programs) == {FACTOR: ["m"]}


def test_its_gradient_is_named_with_it(programs):
    assert named_factor(programs, gradient="fusion(g)") == {FACTOR: ["m", "g"]}


@pytest.mark.parametrize(
    ("making", "reading"),
    [
        pytest.param(DIAGONAL, "add(d, m)", id="added"),
        pytest.param(DIAGONAL.replace("=EQ", "=GE"), "dot(d, m)", id="a triangle"),
        pytest.param(DIAGONAL.replace("(%c, %b, %z)", "(%c, %z, %b)"), "dot(d, m)", id="others"),
        pytest.param(DIAGONAL.replace("(%zero)", "(%v)"), "dot(d, m)", id="not zero beside it"),
    ],
)
def test_another_matrix_or_reader_is_not_named(programs, making, reading):
    assert named_factor(programs, making, reading) == {}


def test_a_diagonal_of_another_line_is_named_alone(programs):
    making = DIAGONAL.replace("=EQ", "=GE")
    assert named_factor(programs, making, gradient="fusion(g)") == {READ: ["g"]}


def test_the_mask_of_a_diagonal_may_be_made_before_the_loop_that_reads_it(programs):
    program = programs(
        "0 | 64 | parameter 0, shape |s8[64]| at ShapeIndex {}\n1 | 16384 | preallocated-temp",
        """
        0 | d    | s8[64]      | 0    | 64   | 0-5 | parameter(0)
        1 | mask | pred[64,64] | 0    | 4096 | 1-3 | fusion()       | jit(f)/diag @ f.py:2
        1 | arg  | pred[64,64] | 0    | 4096 | 2-3 | parameter(0)
        1 | m    | s8[64,64]   | 4096 | 4096 | 3-4 | fusion(d, arg) | jit(f)/diag @ f.py:2
        1 | out  | s8[64]      | 8192 | 64   | 4-5 | dot(d, m)      | jit(f)/dot @ f.py:3
        """,
    )
    share_one_buffer_set(program, "mask", "arg")
    for name, opcodes in (("m", ("select",)), ("mask", ("compare", "iota"))):
        program.instructions[name] = program.instructions[name]._replace(fused_opcodes=opcodes)
    program.stored.operations = operations_of_text("""HloModule jit_f

%masking () -> pred[64,64] {
  %i = s32[64,64]{1,0} iota(), iota_dimension=0
  %j = s32[64,64]{1,0} iota(), iota_dimension=1
  ROOT %c = pred[64,64]{1,0} compare(%i, %j), direction=EQ
}

%making (v: s8[64], p: pred[64,64]) -> s8[64,64] {
  %v = s8[64]{0} parameter(0)
  %p = pred[64,64]{1,0} parameter(1)
  %zero = s8[] constant(0)
  %b = s8[64,64]{1,0} broadcast(%v), dimensions={0}
  %z = s8[64,64]{1,0} broadcast(%zero), dimensions={}
  ROOT %s = s8[64,64]{1,0} select(%p, %b, %z)
}

%body (state: (s8[64], pred[64,64])) -> s8[64,64] {
  %state = (s8[64]{0}, pred[64,64]{1,0}) parameter(0)
  %row = s8[64]{0} get-tuple-element(%state), index=0
  %handed = pred[64,64]{1,0} get-tuple-element(%state), index=1
  ROOT %m = s8[64,64]{1,0} fusion(%row, %handed), calls=%making
}

ENTRY %main (d: s8[64]) -> s8[64,64] {
  %d = s8[64]{0} parameter(0)
  %mask = pred[64,64]{1,0} fusion(), calls=%masking
  %state.1 = (s8[64]{0}, pred[64,64]{1,0}) tuple(%d, %mask)
  ROOT %all = s8[64,64]{1,0} call(%state.1), to_apply=%body
}
""")
    (cause,) = diagonals(program)
    assert (cause.title, [row["value"] for row in cause.rows]) == (FACTOR, ["m", "mask"])
