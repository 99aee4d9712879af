"""Computations that are called once are read in place of their calls."""

from xlagraph.planner.dimensions.inlined_calls import without_calls
from xlagraph.planner.dimensions.module_operations import OperandName
from xlagraph.planner.dimensions.stored_operations import operations_of_text

MODULE = """HloModule jit_f, is_scheduled=true

%twice (t: f32[4]) -> f32[4] {
  %t = f32[4]{0} parameter(0)
  ROOT %u = f32[4]{0} negate(%t)
}

%parallel (p: f32[4], q: f32[4]) -> (f32[4], f32[4]) {
  %p = f32[4]{0} parameter(0)
  %q = f32[4]{0} parameter(1)
  %n = f32[4]{0} exponential(%q)
  ROOT %two = (f32[4]{0}, f32[4]{0}) tuple(%n, %p)
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %y = f32[4]{0} call(%x), to_apply=%twice
  %z = f32[4]{0} call(%y), to_apply=%twice
  %c = (f32[4]{0}, f32[4]{0}) call(%y, %z), to_apply=%parallel
  %e = f32[4]{0} get-tuple-element(%c), index=0
  ROOT %s = f32[4]{0} add(%e, %x)
}
"""


def test_operations_of_a_call_read_what_the_call_is_given():
    module = without_calls(operations_of_text(MODULE))
    read = {each.name: [name for name, _ in each.operands] for each in module.computations["main"]}
    assert read == {
        "x": [], "y": ["x"], "z": ["y"], "n": ["z"], "two": ["n", "y"], "e": ["two"],
        "s": ["e", "x"],
    }  # fmt: skip
    assert module.roots == {"main": "s", "twice": "u"}
    assert OperandName("two") in module.computations["main"][-2].operands
