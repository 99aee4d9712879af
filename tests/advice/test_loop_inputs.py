"""`advise` names values for all iterations that are computed before the loop that reads them."""

from dataclasses import replace
from fractions import Fraction

import pytest

from xlagraph.advice.causes.loop_inputs import computed_ahead
from xlagraph.advice.causes.sliced_reads import parts_of_reads
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.planner.edits.resizing import ComputeInParts

PLAN = (
    "0 | 256 | parameter 0, shape |f32[64]| at ShapeIndex {}\n1 | 20480 | preallocated-temp",
    """
    0 | x    | f32[64]    | 0     | 256  | 0-5 | parameter(0)
    1 | bits | u32[16,64] | 0     | 4096 | 1-{} | {}(x)      | jit(f)/bits @ train.py:3
    1 | all  | f32[16,64] | 4096  | 4096 | 2-4 | fusion({}) | jit(f)/normal @ train.py:3
    1 | part | f32[64]    | 8192  | 256  | 3-4 | fusion(x, all) | jit(f)/while/body/add @ train.py:5
    1 | last | f32[64]    | 12288 | 256  | 4-5 | {}
    {}
    """,
)
MODULE = """HloModule m

fused {{
  x = f32[64]{{0}} parameter(0)
  all = f32[16,64]{{1,0}} parameter(1)
  {}
}}

ENTRY e {{
  x.1 = f32[64]{{0}} parameter(0)
  all.1 = f32[16,64]{{1,0}} fusion(x.1)
  part = f32[64]{{0}} fusion(x.1, all.1), kind=kLoop, calls=fused
}}
"""
SLICED = """i = s32[] constant(3)
  row = f32[1,64]{1,0} dynamic-slice(all, i, i), dynamic_slice_sizes={1,64}
  flat = f32[64]{0} bitcast(row)
  ROOT sum = f32[64]{0} add(x, flat)"""
GATHERED = SLICED.replace(
    "dynamic-slice(all, i, i), dynamic_slice_sizes", "gather(all, i), slice_sizes"
)
WHOLE = """i = s32[] constant(3)
  one = f32[1]{0} dynamic-slice(x, i), dynamic_slice_sizes={1}
  ROOT sum = f32[64]{0} reduce(all, one), dimensions={0}, to_apply=add"""


BACK = "1 | back | f32[16,64] | 16384 | 4096 | 3-4 | fusion(part) | transpose(jvp())/mul @ t.py:5"


def program_of(
    programs,
    *,
    reader=SLICED,
    maker="fusion",
    end=2,
    last="negate(part)",
    loop="jit(f)/while",
    more="",
    read="bits",
    joined=("convert", "multiply"),
):
    program = programs(PLAN[0], PLAN[1].format(end, maker, read, last, more))
    known = program.instructions
    known["part"] = known["part"]._replace(loop="while.1")
    known["while.1"] = known["part"]._replace(
        name="while.1", opcode="while", op_name=loop, loop=None, source_line=4
    )
    for name, opcodes in (("bits", ("broadcast", "xor")), ("all", joined)):
        if known[name].opcode == "fusion":
            known[name] = known[name]._replace(fused_opcodes=opcodes)
    program.stored.operations = operations_of_text(MODULE.format(reader))
    return program


@pytest.mark.parametrize("reader", [SLICED, GATHERED], ids=["next part", "any rows"])
def test_values_of_all_iterations_are_named_with_those_that_only_they_need(programs, reader):
    (cause,) = computed_ahead(program_of(programs, reader=reader))
    assert [row["value"] for row in cause.rows] == ["bits", "all"]
    assert {row["reason"] for row in cause.rows} == {
        "computed before the loop at train.py:4, each iteration of which reads one of 16 parts"
    }
    assert isinstance(cause.edit, ComputeInParts)
    assert cause.edit.kept_by_label == {"bits": Fraction(1, 16), "all": Fraction(1, 16)}


def test_a_value_is_named_only_with_the_loop_that_reads_its_own_parts(programs):
    """A loop in its body reads parts of each part."""
    program = program_of(programs, last="dynamic-slice(part)")
    known = program.instructions
    known["while.2"] = known["while.1"]._replace(name="while.2", loop="while.1", source_line=6)
    known["last"] = known["last"]._replace(loop="while.2")
    known["part"] = known["part"]._replace(fused_opcodes=("dynamic-slice", "add"))
    inner = "  last = f32[4]{0} dynamic-slice(part, i), dynamic_slice_sizes={4}\n}"
    text = MODULE.format(SLICED).rstrip().removesuffix("}") + f"  i = s32[] constant(3)\n{inner}"
    program.stored.operations = operations_of_text(text)
    found = [[row["value"] for row in cause.rows] for cause in computed_ahead(program)]
    assert found == [["bits", "all"], ["part"]]


@pytest.mark.parametrize(("joined", "is_named"), [("dot", False), ("multiply", True)])
def test_an_element_of_a_product_costs_more_than_it_takes(programs, joined, is_named):
    """A lookup in a correlation volume reads elements of all its rows, and any of them."""
    elements = GATHERED.replace("{1,64}", "{1,1}").replace("f32[1,64]", "f32[64,1]")
    program = program_of(programs, reader=elements, joined=("convert", joined))
    assert bool([*computed_ahead(program)]) == is_named


@pytest.mark.parametrize(("target", "is_named"), [("__cublas$gemm", True), ("callback", False)])
def test_the_products_of_all_iterations_may_be_those_of_a_library(programs, target, is_named):
    program = program_of(programs)
    made = program.instructions["all"]._replace(opcode="custom-call", target=target)
    program.instructions |= {"all": made._replace(fused_opcodes=None)}
    assert bool([*computed_ahead(program)]) == is_named


def test_a_tpu_computes_the_products_of_all_iterations_as_convolutions(programs):
    (cause,) = computed_ahead(program_of(programs, joined=("convolution", "add")))
    assert [row["value"] for row in cause.rows] == ["bits", "all"]


@pytest.mark.parametrize(("platform", "is_named"), [("cpu", True), ("tpu", False)])
def test_a_tpu_converts_an_input_to_a_narrower_type_before_the_loop(programs, platform, is_named):
    def with_input(allocations, values):
        values = values.replace("f32[64]    | 0     | 256 ", "f32[16,64] | 0     | 4096 ")
        values = values.replace("f32[16,64] | 4096  | 4096", "bf16[16,64] | 4096 | 2048")
        return programs(allocations.replace("256 | parameter", "4096 | parameter"), values)

    program = program_of(with_input, read="x", joined=("convert",))
    program.compilation = replace(program.compilation, platform=platform)
    assert bool([*computed_ahead(program)]) == is_named


def test_the_copy_of_an_input_from_which_the_values_are_computed_has_another_cause(programs):
    (cause,) = computed_ahead(program_of(programs, maker="copy"))
    assert [row["value"] for row in cause.rows] == ["all"]


@pytest.mark.parametrize(
    "changes",
    [
        {"reader": WHOLE},  # it slices another operand
        {"maker": "sort"},  # each part needs all of the operand
        {"last": "reduce(all)"},  # read after the loop, too
        {"loop": "jit(f)/scatter-add"},  # no line of the program is in the loop
        {"joined": ("bitcast", "concatenate")},  # of an array for each iteration
    ],
)
def test_what_a_loop_needs_as_a_whole_is_not_named(programs, changes):
    assert not list(computed_ahead(program_of(programs, **changes)))


@pytest.mark.parametrize(
    ("last", "end", "named"),
    [
        pytest.param("slice(bits)", 2, ["bits", "all"], id="a part of it"),
        pytest.param("reduce(bits)", 5, ["all"], id="all of it, after the loop"),
        pytest.param("reduce(bits)", 3, [], id="all of it: the loop would keep it instead"),
    ],
)
def test_a_part_that_is_read_next_to_the_loop_can_be_computed_by_itself(programs, last, end, named):
    found = computed_ahead(program_of(programs, last=last, end=end))
    assert [row["value"] for cause in found for row in cause.rows] == named


@pytest.mark.parametrize(
    ("fused", "end", "named"),
    [
        pytest.param(("custom-call", "gather"), 5, ["all"], id="rows of what stays"),
        pytest.param(("custom-call", "gather"), 2, [], id="rows of what the loop would keep"),
        pytest.param(("custom-call", "add"), 5, [], id="any computation"),
    ],
)
def test_rows_of_a_table_need_all_of_it_in_each_iteration(programs, fused, end, named):
    kept = "slice(part)" if end == 2 else "slice(bits)"
    found = computed_ahead(program_of(programs, joined=fused, end=end, last=kept))
    assert [row["value"] for cause in found for row in cause.rows] == named


def test_values_of_all_iterations_are_named_if_the_loop_reads_a_copy_in_vmem(programs):
    vmem = "\n2 | 4096 | color 1, preallocated-temp"

    def with_vmem(allocations, values):
        moved = values.replace("1 | all  | f32[16,64] | 4096 ", "2 | all  | f32[16,64] | 0 ")
        return programs(allocations + vmem, moved)

    (cause,) = computed_ahead(program_of(with_vmem))
    assert [row["value"] for row in cause.rows] == ["bits"]


def test_what_is_fused_with_the_array_of_which_a_loop_could_read_parts_is_not_named(programs):
    other = "1 | other | u32[16,64] | 16384 | 4096 | 1-5 | xor(x)"
    program = program_of(programs, read="bits, other", last="reduce(bits, other)", more=other)
    assert not list(computed_ahead(program))


@pytest.mark.parametrize(("read", "is_named"), [("x, back", True), ("part, back", False)])
def test_the_stacked_gradient_is_named_if_it_meets_what_the_values_are_computed_from(
    programs, read, is_named
):
    program = program_of(programs, last=f"dot({read})", more=BACK)
    back = program.by_label["back"]
    program.values[back.value_id] = back._replace(stack_loop="while.2", stack_turns=16)
    (cause,) = computed_ahead(program)
    assert isinstance(cause.edit, ComputeInParts)
    assert ("back" in cause.edit.kept_by_label) == is_named


@pytest.mark.parametrize(
    ("carry", "end", "named"),
    [
        ("s32[]", 2, ["bits", "all"]),
        ("f32[64]", 2, []),
        pytest.param("f32[64]", 5, ["all"], id="the loop can read it instead"),
    ],
)
def test_what_another_loop_computes_from_its_carry_is_not_named(programs, carry, end, named):
    program = program_of(programs, end=end)
    known = program.instructions
    known["filter"] = known["while.1"]._replace(name="filter")
    stack = program.by_label["bits"]._replace(stack_loop="filter")
    kind = carry.partition("[")[0]
    state = stack._replace(
        value_id=99, name="filter", label="filter{0}", shape=carry, dtype=kind, is_phi=True,
        stack_loop=None,
    )  # fmt: skip
    program.values[stack.value_id], program.values[99] = stack, state
    found = [row["value"] for cause in computed_ahead(program) for row in cause.rows]
    assert found == named


@pytest.mark.parametrize(("end", "named"), [(2, []), (5, ["all"])])
def test_the_state_of_a_loop_around_is_not_computed_in_parts(programs, end, named):
    program = program_of(programs, end=end)
    state = program.by_label["bits"]
    program.values[state.value_id] = state._replace(is_phi=True)
    found = [row["value"] for cause in computed_ahead(program) for row in cause.rows]
    assert found == named


@pytest.mark.parametrize(("reader", "parts"), [(SLICED, 16), (WHOLE, None)])
def test_a_fusion_reads_a_part_if_all_that_it_does_with_an_operand_is_to_slice_it(
    programs, reader, parts
):
    program = program_of(programs, reader=reader)
    assert parts_of_reads(program, {program.by_label["all"].value_id}, {"part"}) == parts


@pytest.mark.parametrize(
    ("scope", "is_named"),
    [
        ("checkpoint/rematted_computation/", True),
        pytest.param("", False, id="without a checkpoint the loop would keep them"),
    ],
)
def test_a_checkpointed_body_computes_its_part_again(programs, scope, is_named):
    loop = "1 | back{0} | f32[64] | 12544 | 256 | 5-5 | while(last) | jit(f)/transpose(jvp())/while"
    program = program_of(programs, last="fusion(x, all)", more=loop)
    known = program.instructions
    op_name = f"jit(f)/transpose(jvp())/while/body/closed_call/{scope}add"
    known["last"] = known["last"]._replace(loop="back", op_name=op_name)
    again = "  last = f32[64]{0} fusion(x.1, all.1), kind=kLoop, calls=fused\n}\n"
    module = MODULE.format(SLICED).removesuffix("}\n") + again
    program.stored.operations = operations_of_text(module)
    assert bool(list(computed_ahead(program))) == is_named


def with_another_loop(programs, *, loop="jit(f)/while", line=9, outer=None):
    """Return the program whose last value is computed of a part, in another loop."""
    program = program_of(programs, last="fusion(x, all)")
    known = program.instructions
    known["last"] = known["last"]._replace(loop="while.2")
    known["while.2"] = known["while.1"]._replace(
        name="while.2", op_name=loop, loop=outer, source_line=line
    )
    again = "  last = f32[64]{0} fusion(x.1, all.1), kind=kLoop, calls=fused\n}\n"
    module = MODULE.format(SLICED).removesuffix("}\n") + again
    program.stored.operations = operations_of_text(module)
    return program


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (9, "loops at train.py:4 and train.py:9"),
        pytest.param(4, "loop at train.py:4", id="same line"),
    ],
)
def test_several_loops_can_each_compute_their_part(programs, line, place):
    (cause,) = computed_ahead(with_another_loop(programs, line=line))
    reasons = {str(row["reason"]) for row in cause.rows}
    assert {reason.partition(", each")[0] for reason in reasons} == {f"computed before the {place}"}


def test_a_compiler_moves_values_out_of_all_loops_around_the_one_that_reads_parts(programs):
    program = with_another_loop(programs)
    known = program.instructions
    known["while.1"] = known["while.1"]._replace(loop="outer")
    known["last"] = known["last"]._replace(loop="while.1")
    known["outer"] = known["while.2"]._replace(name="outer")
    (cause,) = computed_ahead(program)
    assert [row["value"] for row in cause.rows] == ["bits", "all"]


def test_values_that_a_loop_makes_are_not_moved_into_another_one(programs):
    program = with_another_loop(programs)
    known = program.instructions
    known["all"] = known["all"]._replace(loop="while.3")
    known["while.3"] = known["while.2"]._replace(name="while.3")
    assert not list(computed_ahead(program))


RECOMPUTED = "jit(f)/transpose(jvp())/checkpoint/rematted_computation"


def renamed(program, **names):
    """Give what makes values, and a loop, other names of ops."""
    for name, op_name in names.items():
        known = program.instructions[name]
        program.instructions[name] = known._replace(op_name=op_name)
        for value in program.made_by.get(name, ()):
            program.values[value.value_id] = value._replace(
                op_name=op_name, attributed_op_name=op_name
            )


def test_a_copy_in_another_layout_without_the_name_of_an_op_is_named(programs):
    program = program_of(programs)
    renamed(program, all=None)
    (cause,) = computed_ahead(program)
    assert [row["value"] for row in cause.rows] == ["bits", "all"]


@pytest.mark.parametrize("scope", [RECOMPUTED, "jit(f)/transpose(jvp())"])
def test_what_a_checkpoint_recomputes_before_its_loop_is_named(programs, scope):
    loop = "1 | while.1{0} | f32[64] | 16384 | 256 | 5-5 | while(part)"
    program = program_of(programs, more=loop)
    renamed(program, bits=f"{scope}/bits", all=f"{scope}/normal", part=f"{scope}/while/body/add")
    renamed(program, **{"while.1": f"{scope}/while"})
    found = [row["value"] for cause in computed_ahead(program) for row in cause.rows]
    assert found == (["bits", "all"] if scope == RECOMPUTED else [])


@pytest.mark.parametrize("scope", ["checkpoint/", ""])
def test_a_backward_loop_may_take_the_part_that_its_checkpoint_reads(programs, scope):
    backward = "jit(f)/transpose(jvp())/while"
    loop = f"1 | back{{0}} | f32[64] | 12544 | 256 | 5-5 | while(last) | {backward}"
    read = f"1 | read | f32[64] | 12800 | 256 | 5-5 | negate(last) | {backward}/body/{scope}neg"
    program = program_of(programs, last="fusion(x, all)", more=f"{loop}\n    {read}")
    known = program.instructions
    sliced = {"loop": "back", "op_name": f"{backward}/body/dynamic_slice"}
    known["last"] = known["last"]._replace(**sliced, fused_opcodes=("dynamic-slice",))
    again = "  last = f32[64]{0} fusion(x.1, all.1), kind=kLoop, calls=fused\n}\n"
    module = MODULE.format(SLICED).removesuffix("}\n") + again
    program.stored.operations = operations_of_text(module)
    assert bool(list(computed_ahead(program))) == bool(scope)
