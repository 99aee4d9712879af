"""The values of a loop's state share bytes, and so a category."""

from xlagraph.hlo.module_text import parse_module_text
from xlagraph.hlo.shapes import parse_shape
from xlagraph.ingest.measures.compilation_facts import derive_facts
from xlagraph.ingest.plan import (
    Allocation,
    LiveRange,
    LiveRanges,
    ParameterStorage,
    Plan,
    Position,
    Use,
    UsedValue,
    Value,
)

MODULE = """
body {
  state = (f32[4], f32[4]) parameter(0)
  sum = f32[4] get-tuple-element(state), index=0
  old = f32[4] get-tuple-element(state), index=1
  hidden = f32[4] tanh(old), metadata={op_name="jit(f)/while/body/jvp()/tanh"}
  slope = f32[4] negate(hidden), metadata={op_name="jit(f)/while/body/transpose(jvp())/mul"}
  new = f32[4] add(sum, slope), metadata={op_name="jit(f)/while/body/add"}
  ROOT next = (f32[4], f32[4]) tuple(new, old)
}
condition {
  before = (f32[4], f32[4]) parameter(0)
  ROOT more = pred[] compare(before)
}
ENTRY main {
  zero = f32[] constant(0)
  w = f32[4] parameter(0), metadata={op_name="params"}
  zeros = f32[4] broadcast(zero), metadata={op_name="jit(f)/broadcast_in_dim"}
  begin = (f32[4], f32[4]) tuple(zeros, w)
  loop = (f32[4], f32[4]) while(begin), condition=condition, body=body
  total = f32[4] get-tuple-element(loop), index=0
  ROOT result = f32[4] subtract(w, total), metadata={op_name="jit(f)/sub"}
}
"""
VALUES = {  # label: positions, readers, first and last step
    "w": (("w", "begin{1}", "loop{1}", "state{1}", "old", "before{1}"), ("loop", "hidden"), 0, 6),
    "zeros": (("zeros", "begin{0}"), ("loop",), 1, 2),
    "state{0}": (("state{0}", "sum"), ("new",), 2, 4),
    "hidden": (("hidden",), ("slope",), 2, 3),
    "slope": (("slope",), ("new",), 3, 4),
    "new": (("new", "next{0}"), (), 4, 5),
    "loop{0}": (("loop{0}", "total"), ("result",), 5, 6),
    "result": (("result",), (), 6, 7),
}
SCHEDULE = ("w", "zeros", "hidden", "slope", "new", "loop", "result")


def index_of(label):
    name, brace, index = label.partition("{")
    return name, brace + index or None


def categories():
    lines = enumerate(VALUES.items())
    values, used, ranges = [], [], []
    for number, (label, (positions, readers, first, last)) in lines:
        name, index = index_of(label)
        shape = parse_shape("f32[4]")
        allocation = {"w": 0, "result": 2}.get(label, 1)
        values.append(Value(number, name, index, False, 0, allocation, 0, 16, shape))
        found = (Position(at, inside or "{}") for at, inside in map(index_of, positions))
        uses = (Use(reader, 0, None) for reader in readers)
        used.append(UsedValue(number, tuple(found), tuple(uses)))
        ranges.append(LiveRange(name, index or "{}", first, last))
    allocations = (
        Allocation(0, 16, parameter=ParameterStorage(0, "f32[4]", "{}")),
        Allocation(1, 64),
        Allocation(2, 16, maybe_live_out=True),
    )
    live = LiveRanges(7, SCHEDULE, tuple(ranges), None)
    plan = Plan(allocations, tuple(values), None, tuple(used), live)
    facts = derive_facts(plan, parse_module_text(MODULE, {}))
    return {label: each.category for label, each in zip(VALUES, facts.categories, strict=True)}


def test_gradients_that_a_loop_accumulates_are_gradients_from_their_first_zeros():
    found = categories()
    of_loop = ("zeros", "state{0}", "new", "loop{0}", "slope")
    assert {label: found[label] for label in of_loop} == dict.fromkeys(of_loop, "gradient")
    assert (found["w"], found["hidden"]) == ("weight", "activation")
