"""The text of an instruction gives opcode, operands, calls and metadata."""

import pytest

from xlagraph.ingest.carriers.text.instruction_text import (
    NO_FACTS,
    InstructionFacts,
    instruction_facts,
    unescaped,
    with_gaps_filled,
)
from xlagraph.ingest.hlo.computations import parse_instruction


def test_everything_that_an_instruction_says_is_read():
    text = (
        "f32[64,64]{1,0} custom-call(%a, f32[2]{0} %b), custom_call_target=\"my_kernel\", "
        'calls=%body.3, metadata={op_type="Add" op_name="jit(f)/add" source_file="/src/a.py" '
        'source_line=12 source_end_line=13 stack_frame_id=7}, backend_config={"k":{"l":["m"]}}'
    )  # fmt: skip
    assert instruction_facts(text) == InstructionFacts(
        shape="f32[64,64]{1,0}",
        opcode="custom-call",
        op_name="jit(f)/add",
        source_file="/src/a.py",
        source_line=12,
        stack_frame_id=7,
        target="my_kernel",
        calls="body.3",
        sharding=None,
    )


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
    facts = instruction_facts(text)
    assert (facts.shape, facts.opcode) == (shape, opcode)
    found = parse_instruction("x", text)
    assert found is not None
    assert (found.shape, found.opcode) == (shape, opcode)


def op_name(attributes):
    return instruction_facts(f"f32[] add(%a, %b){attributes}").op_name


def test_quoted_text_fools_nobody():
    assert op_name(r', metadata={op_name="metadata={op_name=\"x\"}, calls=%y"}') == (
        'metadata={op_name="x"}, calls=%y'
    )
    assert op_name(', backend_config="metadata={op_name=}", metadata={op_name="right"}') == "right"
    assert op_name(', frontend_attributes={a=", metadata={op_name=}"}') is None
    assert op_name(', metadata={op_type="op_name=" op_name="source_line=3 }"}') == "source_line=3 }"
    assert instruction_facts('f32[] add(%a), metadata={op_name="x, calls=%y"}').calls is None


def test_metadata_within_another_attribute_belongs_to_that_one():
    assert op_name(
        ', sharding={devices=[2]<=[2] metadata={op_name="inner"}}, metadata={op_name="own"}'
    ) == "own"  # fmt: skip
    assert op_name(', sharding={{maximal} {metadata={op_name="inner"}}}') is None


def test_metadata_behind_other_attributes_of_any_depth_is_found():
    assert op_name(
        ", replica_groups=[2,2]<=[4]T(1,0), output_to_operand_aliasing={{0}: (1, {})}, "
        'is_stable=true, control-predecessors={%a, %b}, slice={[0:2]}, x={{{{"}"}}}}, '
        'backend_config={"a":{"b":{"c":[{}]}}}, metadata={profile_type={1} op_name="found"}'
    ) == "found"  # fmt: skip


def test_nested_constants_are_operands():
    text = 'f32[2,2]{1,0} constant({ { 1, 2 }, { (3), ((4)) } }), metadata={op_name="c"}'
    assert instruction_facts(text).op_name == "c"


def test_calls_has_no_sign_and_is_one_computation():
    assert instruction_facts("f32[] fusion(%a), kind=kLoop, calls=%f.1").calls == "f.1"
    assert instruction_facts("f32[] fusion(a), kind=kLoop, calls=f.1, x=1").calls == "f.1"
    assert instruction_facts("f32[] call(%a), calls={%f.1, %f.2}").calls is None


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


def test_what_is_empty_or_zero_is_not_known():
    facts = instruction_facts(
        'f32[] add(%a), custom_call_target="", metadata={op_name="" source_file="" source_line=0 '
        "stack_frame_id=0}"
    )
    assert facts == ("f32[]", "add", None, None, None, None, None, None, None)


def test_numbers_beyond_64_bits_are_not_known():
    text = f"f32[] add(%a), metadata={{source_line={'9' * 5000}}}"
    assert instruction_facts(text).source_line is None


@pytest.mark.parametrize(
    "text", ["", "f32[]", "f32[] ", "f32[] add", "(f32[] add(%a)", "add(%a)", "{", '"', "\\"]
)
def test_text_without_shape_and_opcode_tells_nothing(text):
    assert instruction_facts(text) == NO_FACTS


def test_a_cut_leaves_what_stands_before_it():
    whole = 'f32[] fusion(%a), calls=%f, metadata={op_name="a/b" source_line=3}'
    assert instruction_facts(whole[: whole.index(" source_line")]).op_name == "a/b"
    assert instruction_facts(whole[: whole.index('b" s')]).op_name is None
    assert instruction_facts(whole[: whole.index("b\" s")]).calls == "f"  # fmt: skip
    for end in range(len(whole)):
        assert instruction_facts(whole[:end]).opcode in (None, "fusion")


def test_the_sharding_of_a_parameter_is_read_outside_of_strings():
    nested = "sharding={{devices=[2,1]<=[2]}, {replicated}}"
    quoted = 'metadata={op_name="x, sharding={manual}"}'
    assert instruction_facts(f"(f32[], f32[]) parameter(0), {nested}, {quoted}").sharding == (
        "{{devices=[2,1]<=[2]}, {replicated}}"
    )
    assert instruction_facts(f"f32[] parameter(0), {quoted}").sharding is None
    assert instruction_facts("f32[] add(%a), sharding={replicated}").sharding is None


@pytest.mark.parametrize("part", ['\\"', '"', "{", "(", "}", '{"', ", a={{{", ", a=", "[(", "\\"])
def test_a_million_odd_characters_are_read_once(part):
    instruction_facts("f32[] add(%a), b=" + part * (1_000_000 // len(part)))
    instruction_facts("f32[] add(" + part * (1_000_000 // len(part)))
    instruction_facts("(" + part * (1_000_000 // len(part)))
    instruction_facts("f32[] add(%a), metadata={" + part * (1_000_000 // len(part)))


def test_filling_keeps_file_and_line_together():
    own = NO_FACTS._replace(opcode="add", source_file="a.py")
    other = InstructionFacts("f32[]", "copy", "op", "b.py", 7, 3, "kernel", "f", "{manual}")
    filled = ("f32[]", "add", "op", "a.py", None, 3, "kernel", "f", "{manual}")
    assert with_gaps_filled(own, other) == filled
    assert with_gaps_filled(NO_FACTS, other) == other
