"""The instructions of a module text, inside fusions too."""

import pytest

from xlagraph.ingest.hlo.computations import Computation, Operand, parse_instruction


def parsed(text):
    found = parse_instruction("x", text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32[2]{0} add(%a, %b.1)", ["a", "b.1"]),
        ("f32[2]{0} add(f32[2,3]{1,0:T(8,128)(2,1)} %a, /*index=1*/f32[] %b)", ["a", "b"]),
        ("f32[2]{0} add(f32[2,3]{1,0} a, (f32[2]{0}, s32[]) b)", ["a", "b"]),
        ("f32[2]{0} add(a, b)", ["a", "b"]),
        ("(f32[2]{0}, s32[]) tuple(%a, %b)", ["a", "b"]),
        ("f32[2]{0} parameter(0), sharding={replicated}", []),
        ("f32[2]{0} constant({1, 2})", []),
        ("() tuple()", []),
    ],
)
def test_operands_are_names_in_every_spelling(text, expected):
    assert [name for name, _ in parsed(text).operands] == expected


def test_an_operand_can_be_an_element_of_a_tuple():
    assert parsed("f32[] add(%t#1, %t#0#2, %a)").operands == (
        Operand("t", "{1}"),
        Operand("t", "{0,2}"),
        Operand("a"),
    )
    assert parsed("f32[] negate(t#1)").operands == (Operand("t", "{1}"),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32[] fusion(%a), kind=kLoop, calls=%f.1", ("f.1",)),
        ("(s32[]) while(%t), condition=%c, body=%b", ("c", "b")),
        ("f32[] conditional(%i, %a, %b), branch_computations={%x, %y}", ("x", "y")),
        ("f32[] call(a), to_apply=f", ("f",)),
        ('f32[] add(%a), metadata={op_name=", calls=%x"}', ()),
    ],
)
def test_computations_come_in_the_order_of_the_text(text, expected):
    assert parsed(text).callees == expected


def test_an_element_and_a_parameter_have_their_number():
    assert parsed("f32[] get-tuple-element(%t), index=3, metadata={}").tuple_element == 3
    assert parsed("f32[] copy(%t)").tuple_element is None
    assert parsed("f32[] parameter(12), sharding={replicated}").parameter_number == 12
    assert parsed("f32[] constant(12)").parameter_number is None


def test_what_does_not_fit_is_not_an_instruction():
    assert parse_instruction("x", "odd") is None
    assert not Computation("odd", "\n  odd\n  x = odd").instructions


LINES = """
  %p = f32[8]{0:T(8,128)} parameter(0)
  %k = (s32[], /*index=1*/f32[]) constant((1, 2))
  ROOT %c = f32[8]{0} call(%p, (s32[], f32[]) %k), to_apply=%f, metadata={op_name="a = b c(d"}
  %late = f32[] custom-call(), custom_call_target="x", k=1"""


def test_lines_with_parentheses_among_the_operands_are_read_like_the_others():
    made = Computation("main", LINES)
    assert list(made.instructions) == ["p", "k", "c", "late"]
    assert made.instructions["k"].shape == "(s32[], /*index=1*/f32[])"
    assert [operand.name for operand in made.instructions["c"].operands] == ["p", "k"]
    assert made.opcodes == {"parameter", "constant", "call", "custom-call"}
    assert made.callees == {"f"}


def test_an_instruction_is_found_alone_by_name_number_and_what_it_reads():
    for text in (LINES, LINES.replace("%", "")):
        made = Computation("main", text)
        found = made.find("c")
        assert found is not None
        assert made.root is found
        assert made["late"].opcode == "custom-call"
        assert made.find("to_apply") is None
        parameter = made.parameter(0)
        assert parameter is not None
        assert parameter.name == "p"
        assert made.parameter(1) is None
        assert [list(made.readers(name)) for name in ("p", "k", "c", "f")] == [[found]] * 2 + [
            []
        ] * 2
