"""Buffer sets, overwriting and post-order are tested on module texts of a few lines."""

import pytest

from xlagraph.hlo.buffer_sets import Positions, buffer_sets
from xlagraph.hlo.in_place import in_place_pairs
from xlagraph.hlo.instruction import Aliasing, ProgramError
from xlagraph.hlo.module_text import parse_module_text
from xlagraph.hlo.overwriting import WrittenOutput, overwritable
from xlagraph.hlo.post_order import post_order, scheduled_computations
from xlagraph.hlo.shapes import WHOLE, parse_shape
from xlagraph.ingest.plan import Position, UsedValue

HEADER = "HloModule jit_f, is_scheduled=true"


def module(entry, *others, header=HEADER):
    bodies = [*others, ("ENTRY %main () -> f32[] {", entry)]
    texts = [f"{head}\n{body.strip(chr(10))}\n}}\n" for head, body in bodies]
    return parse_module_text(header + "\n\n" + "\n".join(texts))


def fusion(body):
    """Return a program with a fusion of two vectors that has this body."""
    return module(
        """
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  ROOT %fusion = f32[8]{0} fusion(%a, %b), kind=kLoop, calls=%fused
""",
        ("%fused (p0: f32[8], p1: f32[8]) -> f32[8] {", body),
    )


def may(made, operand=0, *, is_gpu=False, shape="f32[8]{0}", index=WHOLE):
    entry = made.entry
    root = entry.root
    name = root.operands[operand].name
    output = WrittenOutput(root, index, parse_shape(shape))
    return overwritable(output, {operand: entry[name].shape}, made, is_gpu=is_gpu) == [operand]


LOOP = (
    """
  %x = f32[8]{0} parameter(0)
  %i = s32[] constant(0)
  %start = (s32[], f32[8]{0}) tuple(%i, %x)
  %while = (s32[], f32[8]{0}) while(%start), condition=%cond, body=%body
  ROOT %result = f32[8]{0} get-tuple-element(%while), index=1
""",
    (
        "%body (arg: (s32[], f32[8])) -> (s32[], f32[8]) {",
        """
  %arg = (s32[], f32[8]{0}) parameter(0)
  %old = f32[8]{0} get-tuple-element(%arg), index=1
  %new = f32[8]{0} negate(%old)
  %n = s32[] get-tuple-element(%arg), index=0
  ROOT %next = (s32[], f32[8]{0}) tuple(%n, %new)
""",
    ),
    (
        "%cond (arg.1: (s32[], f32[8])) -> pred[] {",
        """
  %arg.1 = (s32[], f32[8]{0}) parameter(0)
  %m = s32[] get-tuple-element(%arg.1), index=0
  ROOT %less = pred[] compare(%m, %m), direction=LT
""",
    ),
)


def positions_of(ids):
    """Return positions given by instruction and index; an array is named without index."""
    return Positions(
        [
            UsedValue(value_id, (Position(name, index),), ())
            for name, indices in ids.items()
            for index, value_id in (
                indices.items() if isinstance(indices, dict) else [(None, indices)]
            )
        ]
    )


def test_a_loop_joins_result_operand_root_and_parameters_at_each_index():
    made = module(*LOOP)
    positions = {
        "x": 1, "start": {WHOLE: 2, "{0}": 3, "{1}": 1}, "while": {WHOLE: 4, "{1}": 5},
        "arg": {WHOLE: 6, "{1}": 7}, "next": {WHOLE: 8, "{1}": 9}, "arg.1": {"{1}": 10},
        "result": 5, "new": 9,
    }  # fmt: skip
    found = buffer_sets(range(1, 11), positions_of(positions), made, scheduled_computations(made))
    assert found == {1: 1, 5: 1, 7: 1, 9: 1, 10: 1, 2: 2, 4: 2, 6: 2, 8: 2, 3: 3}


def test_a_donated_parameter_is_joined_with_its_result():
    header = HEADER + ", input_output_alias={ {0}: (1, {}, may-alias), {1}: (0, {}, must-alias) }"
    made = module(
        """
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %c = f32[8]{0} add(%a, %b)
  %d = f32[8]{0} negate(%b)
  ROOT %tuple = (f32[8]{0}, f32[8]{0}) tuple(%c, %d)
""",
        header=header,
    )
    positions = {"a": 1, "b": 2, "c": 3, "d": 4, "tuple": {"{0}": 3, "{1}": 4, WHOLE: 5}}
    found = buffer_sets(range(1, 6), positions_of(positions), made, scheduled_computations(made))
    assert found == {1: 1, 2: 2, 3: 2, 4: 1, 5: 5}


def test_branches_are_joined_with_the_result_of_their_conditional():
    made = module(
        """
  %p = pred[] parameter(0)
  %x = f32[8]{0} parameter(1)
  ROOT %if = f32[8]{0} conditional(%p, %x, %x), true_computation=%yes, false_computation=%no
""",
        (
            "%yes (y: f32[8]) -> f32[8] {",
            "  %y = f32[8]{0} parameter(0)\n  ROOT %n = f32[8]{0} negate(%y)",
        ),
        (
            "%no (z: f32[8]) -> f32[8] {",
            "  %z = f32[8]{0} parameter(0)\n  ROOT %c = f32[8]{0} copy(%z)",
        ),
    )
    positions = {"x": 1, "if": 2, "n": 3, "c": 4}
    found = buffer_sets(range(1, 5), positions_of(positions), made, scheduled_computations(made))
    assert found == {1: 1, 2: 2, 3: 2, 4: 2}


def pairs(made):
    return list(in_place_pairs(made.entry.root, made))


def test_a_fusion_that_updates_a_slice_of_its_parameter_is_in_place_through_bitcasts():
    made = fusion("""
  %p0 = f32[8]{0} parameter(0)
  %p1 = f32[8]{0} parameter(1)
  %flat = f32[4,2]{1,0} bitcast(%p1)
  %zero = s32[] constant(0)
  %part = f32[1,2]{1,0} slice(%flat), slice={[0:1], [0:2]}
  %update = f32[4,2]{1,0} dynamic-update-slice(%flat, %part, %zero, %zero)
  ROOT %out = f32[8]{0} bitcast(%update)
""")
    assert pairs(made) == [Aliasing(WHOLE, 1, WHOLE)]


def test_each_update_in_a_fusion_with_several_outputs_is_in_place():
    made = module(
        """
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  ROOT %fusion = (f32[8]{0}, f32[8]{0}) fusion(%a, %b), kind=kLoop, calls=%fused
""",
        (
            "%fused (p0: f32[8], p1: f32[8]) -> (f32[8], f32[8]) {",
            """
  %p0 = f32[8]{0} parameter(0)
  %p1 = f32[8]{0} parameter(1)
  %zero = s32[] constant(0)
  %one = f32[1]{0} slice(%p0), slice={[0:1]}
  %update = f32[8]{0} dynamic-update-slice(%p1, %one, %zero)
  %sum = f32[8]{0} add(%p0, %p0)
  ROOT %both = (f32[8]{0}, f32[8]{0}) tuple(%sum, %update)
""",
        ),
    )
    assert pairs(made) == [Aliasing("{1}", 1, WHOLE)]


def test_any_instruction_may_declare_the_operands_that_it_overwrites():
    made = module("""
  %a = f32[8]{0} parameter(0)
  ROOT %call = (f32[8]{0}, s32[]) custom-call(%a), custom_call_target="f", \
output_to_operand_aliasing={{0}: (0, {}), {1}: (0, {1,2})}, backend_config={"{0}: (7, {}":1}
""")
    assert pairs(made) == [Aliasing("{0}", 0, WHOLE), Aliasing("{1}", 0, "{1,2}")]


@pytest.mark.parametrize(
    ("sum_", "expected"),
    [
        ("f32[8]{0} all-reduce(%a), to_apply=%add", []),
        ("f32[8]{0} all-reduce-start(%a), to_apply=%add", [Aliasing(WHOLE, 0, WHOLE)]),
        ("((f32[8]{0}), f32[8]{0}) all-reduce-start(%a), calls=%wrapped", []),
    ],
)
def test_only_a_plain_start_of_a_reduction_over_devices_is_in_place(sum_, expected):
    assert pairs(module(f"  %a = f32[8]{{0}} parameter(0)\n  ROOT %sum = {sum_}")) == expected


ELEMENTWISE = "  %p0 = f32[8]{0} parameter(0)\n  %p1 = f32[8]{0} parameter(1)\n"


@pytest.mark.parametrize(
    ("body", "on_cpu", "on_gpu"),
    [
        ("  ROOT %r = f32[8]{0} add(%p0, %p1)", True, True),
        ("  %n = f32[8]{0} negate(%p0)\n  ROOT %r = f32[8]{0} add(%n, %p0)", True, True),
        ("  %n = f32[8]{0} reverse(%p0)\n  ROOT %r = f32[8]{0} add(%n, %p1)", False, False),
        ("  %n = f32[8]{0} bitcast(%p0)\n  ROOT %r = f32[8]{0} add(%n, %p1)", False, True),
        ("  %n = f32[8]{0} copy(%p0)\n  ROOT %r = f32[8]{0} add(%n, %p1)", True, False),
        ("  ROOT %r = f32[8]{0} negate(%p1)", True, False),
    ],
    ids=["sum", "two paths", "reversed", "bitcast", "copy", "never read"],
)  # fmt: skip
def test_a_fusion_may_overwrite_what_it_reads_element_by_element(body, on_cpu, on_gpu):
    made = fusion(ELEMENTWISE + body)
    assert may(made) is on_cpu
    assert may(made, is_gpu=True) is on_gpu


def test_on_a_gpu_the_same_number_of_elements_of_one_width_suffices():
    made = module(
        """
  %a = s32[2,4]{1,0} parameter(0)
  ROOT %fusion = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused
""",
        (
            "%fused (p0: s32[2,4]) -> f32[8] {",
            """
  %p0 = s32[2,4]{1,0} parameter(0)
  %flat = s32[8]{0} bitcast(%p0)
  ROOT %r = f32[8]{0} convert(%flat)
""",
        ),
    )
    assert may(made, is_gpu=True)
    assert not may(made)


@pytest.mark.parametrize(("index", "expected"), [("{0}", True), ("{1}", False)])
def test_a_sort_in_a_fusion_on_a_gpu_overwrites_what_it_alone_reads(index, expected):
    made = module(
        """
  %a = f32[8]{0} parameter(0)
  ROOT %fusion = (f32[8]{0}, f32[8]{0}) fusion(%a), kind=kCustom, calls=%fused
""",
        (
            "%fused (p0: f32[8]) -> (f32[8], f32[8]) {",
            """
  %p0 = f32[8]{0} parameter(0)
  %i = f32[8]{0} iota(), iota_dimension=0
  ROOT %s = (f32[8]{0}, f32[8]{0}) sort(%p0, %i), dimensions={0}, to_apply=%less
""",
        ),
    )
    assert may(made, is_gpu=True, index=index) is expected


ANOTHER = "  %second = f32[] reduce(%p0, %zero), dimensions={0}, to_apply=%add"
INNER = ANOTHER.replace("second", "inner") + "\n  %second = f32[] negate(%inner)"


@pytest.mark.parametrize(
    ("second", "on_cpu", "on_gpu", "on_tpu"),
    [
        pytest.param("  %second = f32[] negate(%zero)", False, True, True, id="one reduction"),
        pytest.param(ANOTHER, False, False, True, id="two reductions"),
        pytest.param(INNER, False, False, False, id="a reduction that is no result"),
    ],
)
def test_a_fusion_may_overwrite_what_it_reduces_to_another_result(second, on_cpu, on_gpu, on_tpu):
    def reducing(layout):
        return module(
            f"""
  %a = f32[8]{layout} parameter(0)
  ROOT %fusion = (f32[], f32[8]{layout}, f32[]) fusion(%a), kind=kInput, calls=%fused
""",
            (
                "%fused (p0: f32[8]) -> (f32[], f32[8], f32[]) {",
                f"""
  %p0 = f32[8]{layout} parameter(0)
  %zero = f32[] constant(0)
  %new = f32[8]{layout} negate(%p0)
  %first = f32[] reduce(%new, %zero), dimensions={{0}}, to_apply=%add
{second}
  ROOT %all = (f32[], f32[8]{layout}, f32[]) tuple(%first, %new, %second)
""",
            ),
        )

    tiled = "{0:T(128)}"
    assert may(reducing("{0}"), index="{1}") is on_cpu
    assert may(reducing("{0}"), index="{1}", is_gpu=True) is on_gpu
    assert may(reducing(tiled), index="{1}", shape=f"f32[8]{tiled}") is on_tpu


@pytest.mark.parametrize(
    ("instruction", "operand", "expected"),
    [
        ("negate(%a)", 0, True),
        ("reverse(%a), dimensions={0}", 0, False),
        ("add(%a, %k)", 1, False),
        ("triangular-solve(%k, %a), left_side=true", 1, True),
        ("triangular-solve(%a, %k), left_side=true", 0, False),
        ("sort(%a), dimensions={0}, to_apply=%less", 0, True),
        ("sort(%b), dimensions={0}, to_apply=%less", 0, False),
    ],
)
def test_an_operation_may_overwrite_what_it_reads_element_by_element(
    instruction, operand, expected
):
    made = module(f"""
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  %k = f32[8]{{0}} constant({{...}})
  %other = f32[8]{{0}} negate(%b)
  ROOT %r = f32[8]{{0}} {instruction}
""")
    assert may(made, operand) is expected


def test_another_layout_is_not_overwritten():
    made = module("""
  %a = f32[2,4]{1,0} parameter(0)
  ROOT %r = f32[2,4]{0,1} negate(%a)
""")
    assert not may(made, shape="f32[2,4]{0,1}")


def test_post_order_takes_operands_first_and_callers_before_callees():
    made = module(*LOOP)
    computations = scheduled_computations(made)
    assert computations[0].name == "main"
    order = sorted(post_order(computations).items(), key=lambda operand: operand[1])
    assert [name for name, _ in order if name in made.entry.by_name] == [
        "i", "x", "start", "while", "result",
    ]  # fmt: skip
    assert [name for name, _ in order][5:] == [
        "arg", "n", "old", "new", "next", "arg.1", "m", "less",
    ]  # fmt: skip


def test_called_computations_are_in_reverse_order_of_call_numbers():
    bodies = [
        (
            f"%parallel_{name} (p.{name}: f32[8]) -> f32[8] {{",
            f"  ROOT %p.{name} = f32[8]{{0}} parameter(0)",
        )
        for name in ("x", "y", "z")
    ]
    made = module(
        """
  %a = f32[8]{0} parameter(0)
  %call.2 = f32[8]{0} call(%a), to_apply=%parallel_x
  %call = f32[8]{0} call(%call.2), to_apply=%parallel_y
  ROOT %call.10 = f32[8]{0} call(%call), to_apply=%parallel_z
""",
        *bodies,
    )
    names = [computation.name for computation in scheduled_computations(made)]
    assert names == ["main", "parallel_z", "parallel_x", "parallel_y"]


def test_control_predecessors_precede_operands():
    made = module("""
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %first = f32[8]{0} negate(%b)
  ROOT %r = f32[8]{0} negate(%a), control-predecessors={%first}
""")
    order = post_order(scheduled_computations(made))
    assert sorted(order, key=order.__getitem__) == ["b", "first", "a", "r"]


def test_texts_without_percent_signs_and_with_shapes_of_operands_are_read():
    made = parse_module_text("""HloModule f
ENTRY main.3 {
  Arg_0.1 = f32[2,3]{1,0} parameter(0)
  tuple.1 = (f32[2,3]{1,0}, f32[]) tuple(f32[2,3]{1,0} Arg_0.1, f32[] Arg_0.1)
  ROOT add.2 = f32[2,3]{1,0} add(Arg_0.1, tuple.1#0), metadata={op_name="a(b, %c)"}
}
""")
    root = made.entry.root
    assert [tuple(operand) for operand in root.operands] == [("Arg_0.1", "{}"), ("tuple.1", "{0}")]
    (before,) = [one for one in made.entry.instructions if one.opcode == "tuple"]
    assert [operand.name for operand in before.operands] == ["Arg_0.1", "Arg_0.1"]


def test_an_instruction_that_is_its_own_operand_is_an_error():
    update = """
  %p0 = f32[8]{0} parameter(0)
  %b = f32[8]{0} bitcast(%b)
  ROOT %u = f32[8]{0} dynamic-update-slice(%b, %p0, %p0)
"""
    with pytest.raises(ProgramError, match="its own operand"):
        pairs(fusion(update))
    reshaped = "  %p0 = f32[8]{0} parameter(0)\n  ROOT %b = f32[8]{0} bitcast(%b)\n"
    with pytest.raises(ProgramError, match="its own operand"):
        may(fusion(reshaped), is_gpu=True)


def test_a_missing_computation_is_an_error():
    made = module("  %x = f32[] parameter(0)\n  ROOT %w = f32[] while(%x), condition=%c, body=%b\n")
    with pytest.raises(ProgramError, match="no computation b"):
        buffer_sets([1], Positions([]), made, scheduled_computations(made))
