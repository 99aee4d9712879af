"""An instruction's text is parsed into opcode, operands, calls and metadata."""

import pytest

from xlagraph.hlo.attribute_text import unescaped
from xlagraph.hlo.instruction import (
    NO_ATTRIBUTES,
    Aliasing,
    Attributes,
    Callee,
    Operand,
)
from xlagraph.hlo.instruction_text import parse_instruction


def parsed(text):
    return parse_instruction("x", text)


def attributes(text):
    return parsed(text).attributes


def test_every_field_of_an_instruction_is_read():
    text = (
        "f32[64,64]{1,0} custom-call(%a, f32[2]{0} %b), custom_call_target=\"my_kernel\", "
        'calls=%body.3, metadata={op_type="Add" op_name="jit(f)/add" source_file="/src/a.py" '
        'source_line=12 source_end_line=13 stack_frame_id=7}, backend_config={"k":{"l":["m"]}}'
    )  # fmt: skip
    found = parsed(text)
    assert (found.shape.text, found.opcode) == ("f32[64,64]{1,0}", "custom-call")
    assert found.attributes == Attributes(
        op_name="jit(f)/add",
        source_file="/src/a.py",
        source_line=12,
        stack_frame=7,
        target="my_kernel",
        runs="body.3",
        callees=(Callee("calls", "body.3"),),
    )


def test_lines_of_inline_stack_frames_are_read():
    # as xla_hlo_print_inline_stack_frames prints them
    found = attributes(
        'f32[2]{0} tanh(%a), metadata={op_name="jit(f)/tanh" source_file="/src/a.py"'
        " source_line=12 source_column=31}"
    )
    assert (found.source_file, found.source_line, found.stack_frame) == ("/src/a.py", 12, None)


@pytest.mark.parametrize(
    ("text", "shape", "opcode"),
    [
        ("f32[] parameter(0)", "f32[]", "parameter"),
        ("f32[8,128]{1,0:T(8,128)(2,1)} add(%a, %b)", "f32[8,128]{1,0:T(8,128)(2,1)}", "add"),
        ("() tuple()", "()", "tuple"),
        ("(s32[], (f32[2]{0:T(8,128)}, ())) while(%t)", "(s32[], (f32[2]{0:T(8,128)}, ()))",
         "while"),
        ("((((s32[])))) tuple(((((s32[])))) %t)", "((((s32[]))))", "tuple"),
        ("b(f32[4]{0}) copy(%a)", "b(f32[4]{0})", "copy"),
        ("f32[4]{0:P((s8[2]{0}, s32[]))} copy(%a)", "f32[4]{0:P((s8[2]{0}, s32[]))}", "copy"),
        ("((f32[2]{0}), f32[2]{0}, u32[]) all-gather-start(%x)",
         "((f32[2]{0}), f32[2]{0}, u32[])", "all-gather-start"),
    ],
)  # fmt: skip
def test_the_opcode_follows_one_balanced_shape(text, shape, opcode):
    found = parsed(text)
    assert (found.shape.text, found.opcode) == (shape, opcode)


def op_name(written):
    return attributes(f"f32[] add(%a, %b){written}").op_name


def test_quoted_text_is_not_parsed():
    assert op_name(r', metadata={op_name="metadata={op_name=\"x\"}, calls=%y"}') == (
        'metadata={op_name="x"}, calls=%y'
    )
    assert op_name(', backend_config="metadata={op_name=}", metadata={op_name="right"}') == "right"
    assert op_name(', frontend_attributes={a=", metadata={op_name=}"}') is None
    assert op_name(', metadata={op_type="op_name=" op_name="source_line=3 }"}') == "source_line=3 }"
    assert attributes('f32[] add(%a), metadata={op_name="x, calls=%y"}').runs is None


def test_metadata_inside_another_attribute_belongs_to_that_attribute():
    assert op_name(
        ', sharding={devices=[2]<=[2] metadata={op_name="inner"}}, metadata={op_name="own"}'
    ) == "own"  # fmt: skip
    assert op_name(', sharding={{maximal} {metadata={op_name="inner"}}}') is None


def test_metadata_after_attributes_of_any_depth_is_found():
    assert op_name(
        ", replica_groups=[2,2]<=[4]T(1,0), output_to_operand_aliasing={{0}: (1, {})}, "
        'is_stable=true, control-predecessors={%a, %b}, slice={[0:2]}, x={{{{"}"}}}}, '
        'backend_config={"a":{"b":{"c":[{}]}}}, metadata={profile_type={1} op_name="found"}'
    ) == "found"  # fmt: skip


def test_nested_constants_are_operands():
    text = 'f32[2,2]{1,0} constant({ { 1, 2 }, { (3), ((4)) } }), metadata={op_name="c"}'
    assert attributes(text).op_name == "c"


def test_calls_has_no_percent_sign_and_is_one_computation():
    assert attributes("f32[] fusion(%a), kind=kLoop, calls=%f.1").runs == "f.1"
    assert attributes("f32[] fusion(a), kind=kLoop, calls=f.1, x=1").runs == "f.1"
    assert attributes("f32[] call(%a), calls={%f.1, %f.2}").runs is None


@pytest.mark.parametrize(
    ("quoted", "plain"),
    [
        (r'"state[\'w\']"', "state['w']"),
        (r'"say \"hi\"\\"', 'say "hi"\\'),
        (r'"caf\303\251"', "café"),
        (r'"\xe2\x82\xac"', "€"),
        (r'"a\nb\tc"', "a\nb\tc"),
        (r'"\0015"', "\x015"),
        (r'"broken \377"', "broken \N{REPLACEMENT CHARACTER}"),
        ('"é already"', "é already"),
        ('""', ""),
    ],
)
def test_names_are_unescaped_as_in_c(quoted, plain):
    assert unescaped(quoted) == plain


def test_empty_or_zero_metadata_is_none():
    found = parsed(
        'f32[] add(%a), custom_call_target="", metadata={op_name="" source_file="" source_line=0 '
        "stack_frame_id=0}"
    )
    assert (found.shape.text, found.opcode) == ("f32[]", "add")
    assert found.attributes == NO_ATTRIBUTES


def test_numbers_beyond_64_bits_are_none():
    text = f"f32[] add(%a), metadata={{source_line={'9' * 5000}}}"
    assert attributes(text).source_line is None


@pytest.mark.parametrize(
    "text", ["", "f32[]", "f32[] ", "f32[] add", "(f32[] add(%a)", "add(%a)", "{", '"', "\\"]
)
def test_text_without_shape_and_opcode_gives_no_fields(text):
    found = parsed(text)
    assert (found.shape, found.opcode) == (None, None)
    assert (found.operands, found.attributes) == ((), NO_ATTRIBUTES)


def test_a_cut_text_gives_the_fields_before_the_cut():
    whole = 'f32[] fusion(%a), calls=%f, metadata={op_name="a/b" source_line=3}'
    assert attributes(whole[: whole.index(" source_line")]).op_name == "a/b"
    assert attributes(whole[: whole.index('b" s')]).op_name is None
    assert attributes(whole[: whole.index("b\" s")]).runs == "f"  # fmt: skip
    for end in range(len(whole)):
        assert parsed(whole[:end]).opcode in (None, "fusion")


def test_the_sharding_of_a_parameter_is_read_outside_of_strings():
    nested = "sharding={{devices=[2,1]<=[2]}, {replicated}}"
    quoted = 'metadata={op_name="x, sharding={manual}"}'
    assert attributes(f"(f32[], f32[]) parameter(0), {nested}, {quoted}").sharding == (
        "{{devices=[2,1]<=[2]}, {replicated}}"
    )
    assert attributes(f"f32[] parameter(0), {quoted}").sharding is None


@pytest.mark.parametrize("part", ['\\"', '"', "{", "(", "}", '{"', ", a={{{", ", a=", "[(", "\\"])
def test_many_unusual_characters_are_read_once(part):
    odd = part * (200_000 // len(part))
    for before in ("f32[] add(%a), b=", "f32[] add(", "(", "f32[] add(%a), metadata={"):
        found = parsed(before + odd)
        assert found.opcode in ("add", None)
        assert found.operands is not None
        assert found.attributes is not None


OPERANDS = [
    ("f32[2]{0} add(%a, %b.1)", ["a", "b.1"]),
    ("f32[2]{0} add(f32[2,3]{1,0:T(8,128)(2,1)} %a, /*index=1*/f32[] %b)", ["a", "b"]),
    ("f32[2]{0} add(f32[2,3]{1,0} a, (f32[2]{0}, s32[]) b)", ["a", "b"]),
    ("f32[2]{0} add(a, b)", ["a", "b"]),
    ("(f32[2]{0}, s32[]) tuple(%a, %b)", ["a", "b"]),
    ("f32[2]{0} parameter(0), sharding={replicated}", []),
    ("f32[2]{0} constant({1, 2})", []),
    ("() tuple()", []),
]


@pytest.mark.parametrize(("text", "names"), OPERANDS)
def test_operands_are_names_in_every_spelling(text, names):
    assert [name for name, _ in parsed(text).operands] == names
    assert list(parsed(text).operand_names) == names


def test_an_operand_can_be_an_element_of_a_tuple():
    found = parsed("f32[] add(%t#1, %t#0#2, %a)")
    assert found.operands == (Operand("t", "{1}"), Operand("t", "{0,2}"), Operand("a"))
    assert list(found.operand_names) == ["t", "t", "a"]
    assert parsed("f32[] negate(t#1)").operands == (Operand("t", "{1}"),)


@pytest.mark.parametrize(
    ("text", "callees"),
    [
        ("f32[] fusion(%a), kind=kLoop, calls=%f.1", [("calls", "f.1")]),
        ("(s32[]) while(%t), condition=%c, body=%b", [("condition", "c"), ("body", "b")]),
        (
            "f32[] conditional(%i, %a, %b), branch_computations={%x, %y}",
            [("branch", "x"), ("branch", "y")],
        ),
        (
            "f32[] conditional(%p, %a, %b), true_computation=%x, false_computation=%y",
            [("branch", "x"), ("branch", "y")],
        ),
        ("f32[] call(a), to_apply=f", [("to_apply", "f")]),
        ('f32[] add(%a), metadata={op_name=", calls=%x"}', []),
    ],
)
def test_called_computations_have_the_purpose_that_their_attribute_names(text, callees):
    assert list(attributes(text).callees) == callees


def test_tuple_elements_and_parameters_have_their_number():
    assert attributes("f32[] get-tuple-element(%t), index=3, metadata={}").tuple_element == 3
    assert attributes("f32[] copy(%t)").tuple_element is None
    assert parsed("f32[] parameter(12), sharding={replicated}").parameter_number == 12
    assert parsed("f32[] constant(12)").parameter_number is None


def test_aliasing_control_predecessors_and_backend_facts_are_read():
    text = (
        'f32[] custom-call(%a, %b), custom_call_target="__cublas$lt$matmul", '
        "output_to_operand_aliasing={{0}: (0, {}), {1}: (0, {1, 2}, may-alias)}, "
        "control-predecessors={%c, %d}, "
        'backend_config={"gemm_backend_config":{"alpha_real":1,"beta":0.5}}'
    )
    found = attributes(text)
    assert found.aliasing == (Aliasing("{0}", 0, "{}"), Aliasing("{1}", 0, "{1,2}"))
    assert found.control_predecessors == ("c", "d")
    assert found.gemm_beta == 0.5
    assert not found.uses_nvshmem
    reduced = 'f32[] all-reduce-start(%a), to_apply=%add, backend_config={"backend":"NVSHMEM"}'
    assert attributes(reduced).uses_nvshmem


def test_the_plan_takes_precedence_over_the_module_text_and_file_and_line_stay_together():
    instruction = parse_instruction(
        "x",
        'f32[] copy(%p), custom_call_target="kernel", sharding={manual}, calls=%f, '
        'metadata={op_name="op" source_file="b.py" source_line=7 stack_frame_id=3}',
    )
    instruction.state('f32[] add(%t), metadata={source_file="a.py"}')
    assert (instruction.opcode, instruction.operands) == ("add", (Operand("p"),))
    assert instruction.attributes == Attributes(
        "op", "a.py", None, 3, "kernel", "{manual}", "f", (Callee("calls", "f"),)
    )
