import pytest

from xlagraph.ingest.dump.instruction_references import (
    Operand,
    called_computations,
    operands,
    parameter_number,
    tuple_element,
)


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
        ("odd", []),
    ],
)
def test_operands_are_names_in_every_spelling(text, expected):
    assert [name for name, _ in operands(text)] == expected


def test_an_operand_can_be_an_element_of_a_tuple():
    assert operands("f32[] add(%t#1, %t#0#2, %a)") == (
        Operand("t", (1,)),
        Operand("t", (0, 2)),
        Operand("a"),
    )
    assert operands("f32[] negate(t#1)") == (Operand("t", (1,)),)


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
    assert called_computations(text) == expected


def test_an_element_and_a_parameter_have_their_number():
    assert tuple_element("f32[] get-tuple-element(%t), index=3, metadata={}") == 3
    assert tuple_element("f32[] copy(%t)") is None
    assert parameter_number("f32[] parameter(12), sharding={replicated}") == 12
    assert parameter_number("f32[] constant(12)") is None
