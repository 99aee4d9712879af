"""Dependences between the instructions of the scheduled computations."""

from xlagraph.hlo.module_text import parse_module_text
from xlagraph.ingest.measures.dependence import dependences

MODULE = """\
HloModule jit_f, is_scheduled=true

%body (b: (f32[4])) -> (f32[4]) {
  %b = (f32[4]) parameter(0)
  %g = f32[4] get-tuple-element(%b), index=0
  ROOT %t = (f32[4]) tuple(%g)
}

%condition (c: (f32[4])) -> pred[] {
  %c = (f32[4]) parameter(0)
  ROOT %false = pred[] constant(false)
}

%fused (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  ROOT %n = f32[4] negate(%p)
}

ENTRY %main (x: f32[4]) -> (f32[4]) {
  %x = f32[4] parameter(0)
  %fusion = f32[4] fusion(%x), kind=kLoop, calls=%fused
  %add = f32[4] add(%x, %x), control-predecessors={%fusion}
  %init = (f32[4]) tuple(%add)
  ROOT %loop = (f32[4]) while(%init), condition=%condition, body=%body
}
"""


def found(text=MODULE):
    return {name: tuple(each) for name, each in dependences(parse_module_text(text)).items()}


def test_operands_are_in_their_order_and_those_read_twice_are_there_twice():
    assert list(found()["add"][0]) == ["x", "x"]
    assert found()["x"][0] is None


def test_an_instruction_waits_for_its_control_predecessors():
    assert list(found()["add"][1]) == ["fusion"]


def test_a_loop_runs_its_condition_then_its_body():
    assert found()["loop"][2] == ("condition", "body")


def test_instructions_inside_a_fusion_are_not_scheduled():
    assert "n" not in found()
    assert found()["fusion"][2] is None


def test_each_computation_has_one_root():
    assert [name for name, each in found().items() if each[3]] == ["loop", "t", "false"]


def test_a_text_without_numbers_of_instructions_has_none():
    assert {each[4] for each in found().values()} == {None}


def test_a_text_that_is_cut_has_no_dependences():
    assert (
        found(MODULE.replace("ROOT %loop = (f32[4]) while(%init", "ROOT %loop = (f32[4]) wh")) == {}
    )
