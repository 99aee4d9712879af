"""Each value belongs to an op: one case for each rule that a naive one gets wrong."""

import re
from collections.abc import Mapping, Sequence

import pytest

from xlagraph.hlo.module_text import parse_module_text
from xlagraph.hlo.shapes import parse_shape
from xlagraph.ingest.carriers.text.printed_plan import PrintedPlan
from xlagraph.ingest.measures.attribution import Attribution
from xlagraph.ingest.measures.compilation_facts import derive_facts
from xlagraph.ingest.plan import (
    Allocation,
    LiveRanges,
    Use,
    UsedValue,
    Value,
)

OP = 'metadata={{op_name="{}" source_file="{}.py" source_line=1}}'


def attributed(
    module: str,
    label: str,
    *,
    schedule: Sequence[str] = (),
    readers: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
) -> Attribution | None:
    """Attribute one value, given the module text with ``op=name`` short for its metadata."""
    module = re.sub(r"op=(\S+)", lambda found: OP.format(found[1], found[1]), module)
    name, brace, index = label.partition("{")
    value = Value(0, name, brace + index or None, False, 0, 0, 0, 4, parse_shape("f32[]"))
    uses = tuple(Use(reader, 0, None) for reader in readers)
    plan = PrintedPlan(
        allocations=(Allocation(0, 4),),
        values=(value,),
        total_bytes=None,
        used_values=(UsedValue(0, (), uses),),
        instructions=texts or {},
        live_ranges=LiveRanges(len(schedule), tuple(schedule), (), None) if schedule else None,
    )
    (found,) = derive_facts(plan, parse_module_text(module, plan.instructions)).attributions
    return found


def rule_and_op(*args, **kwargs):
    found = attributed(*args, **kwargs)
    return None if found is None else (found.rule.value, found.op_name, found.source_file)


def test_the_op_name_of_the_instruction_is_preferred_to_those_inside():
    module = """
inner {
  ROOT add = f32[] add(), op=b
}
ENTRY main {
  ROOT fusion = f32[] fusion(), calls=inner, op=a
}
"""
    assert rule_and_op(module, "fusion") == ("own", "a", "a.py")


def test_inside_is_breadth_first_from_the_root_and_operands_in_order():
    module = """
inner {
  deep = f32[] negate(), op=deep
  first = f32[] negate(deep)
  second = f32[] negate(), op=second
  third = f32[] negate(), op=third
  ROOT add = f32[] add(first, second, third)
}
ENTRY main {
  ROOT fusion = f32[] fusion(), calls=inner
}
"""
    assert rule_and_op(module, "fusion") == ("inside", "second", "second.py")


def test_inside_goes_into_nested_computations():
    module = """
innermost {
  ROOT exp = f32[] exponential(), op=exp
}
inner {
  ROOT nested = f32[] fusion(), kind=kLoop, calls=innermost
}
ENTRY main {
  ROOT call = f32[] call(), to_apply=inner
}
"""
    assert rule_and_op(module, "call") == ("inside", "exp", "exp.py")


@pytest.mark.parametrize(("label", "op"), [("fusion{0}", "a"), ("fusion{1}", "b")])
def test_a_tuple_element_is_that_operand_of_the_root(label, op):
    module = """
inner {
  sin = f32[] sine(), op=a
  cos = f32[] cosine(), op=b
  ROOT tuple = (f32[], f32[]) tuple(sin, cos), op=whole
}
ENTRY main {
  ROOT fusion = (f32[], f32[]) fusion(), calls=inner
}
"""
    assert rule_and_op(module, label) == ("inside", op, f"{op}.py")


def test_an_element_of_a_nested_tuple_is_followed_to_its_operand():
    module = """
inner {
  sin = f32[] sine(), op=a
  cos = f32[] cosine(), op=b
  pair = (f32[], f32[]) tuple(sin, cos)
  ROOT tuple = (f32[], (f32[], f32[])) tuple(sin, pair)
}
ENTRY main {
  ROOT fusion = (f32[], (f32[], f32[])) fusion(), calls=inner
}
"""
    assert rule_and_op(module, "fusion{1,1}") == ("inside", "b", "b.py")


def test_a_moving_instruction_belongs_to_its_first_operand():
    module = """
ENTRY main {
  dot = f32[2,2] dot(), op=dot
  start = f32[] iota(), op=start
  slice = f32[1,2] dynamic-slice(dot, start)
  convert = bf16[1,2] convert(slice)
  ROOT copy = bf16[1,2] copy(convert)
}
"""
    assert rule_and_op(module, "copy") == ("operand", "dot", "dot.py")


def test_a_computing_instruction_does_not_belong_to_its_operand():
    module = """
ENTRY main {
  dot = f32[2] dot(), op=dot
  ROOT negate = f32[2] negate(dot)
}
"""
    assert rule_and_op(module, "negate") is None


def test_a_fusion_of_only_moves_belongs_to_its_first_operand():
    module = """
inner {
  p0 = f32[2] parameter(0)
  zero = f32[] constant(0)
  ROOT pad = f32[4] pad(p0, zero)
}
ENTRY main {
  dot = f32[2] dot(), op=dot
  ROOT fusion = f32[4] fusion(dot), kind=kLoop, calls=inner
}
"""
    assert rule_and_op(module, "fusion") == ("operand", "dot", "dot.py")


def test_a_fusion_that_computes_without_a_name_does_not_belong_to_its_operand():
    module = """
inner {
  p0 = f32[2] parameter(0)
  ROOT negate = f32[2] negate(p0)
}
ENTRY main {
  dot = f32[2] dot(), op=dot
  ROOT fusion = f32[2] fusion(dot), kind=kLoop, calls=inner
}
"""
    assert rule_and_op(module, "fusion") is None


LOOP = """
body {
  state = (s32[], f32[2]) parameter(0)
  next = (s32[], f32[2]) copy(state)
  ROOT out = (s32[], f32[2]) tuple(state#0, state#1)
}
condition {
  state.2 = (s32[], f32[2]) parameter(0)
  ROOT less = pred[] compare(state.2#0)
}
ENTRY main {
  zero = s32[] constant(0), op=zero
  start = f32[2] broadcast(zero), op=start
  init = (s32[], f32[2]) tuple(zero, start)
  loop = (s32[], f32[2]) while(init), condition=condition, body=body
  ROOT copy = f32[2] copy(loop#1)
}
"""


@pytest.mark.parametrize("label", ["loop{1}", "state{1}", "state.2{1}", "copy"])
def test_state_of_a_loop_belongs_to_the_value_passed_in(label):
    schedule = ["state", "state.2", "loop", "zero", "start", "init"]
    assert rule_and_op(LOOP, label, schedule=schedule) == ("operand", "start", "start.py")


def test_a_copy_of_an_element_of_a_loop_with_a_name_belongs_to_the_loop():
    module = """
ENTRY main {
  init = (f32[2]) tuple()
  loop = (f32[2]) while(init), condition=c, body=b, op=scan
  element = f32[2] get-tuple-element(loop), index=0
  ROOT copy = f32[2] copy(element)
}
"""
    assert rule_and_op(module, "copy") == ("operand", "scan", "scan.py")


def test_an_argument_of_a_call_is_the_operand_of_that_number():
    module = """
inner {
  p1 = f32[2] parameter(1)
  ROOT negate = f32[2] negate(p1)
}
ENTRY main {
  a = f32[2] sine(), op=a
  b = f32[2] cosine(), op=b
  ROOT call = f32[2] call(a, b), to_apply=inner
}
"""
    assert rule_and_op(module, "p1", schedule=["p1", "call"]) == ("operand", "b", "b.py")


def test_both_halves_of_an_async_copy_belong_to_what_is_copied():
    module = """
ENTRY main {
  dot = f32[2] dot(), op=dot
  start = (f32[2], f32[2], u32[]) copy-start(dot)
  ROOT done = f32[2] copy-done(start)
}
"""
    assert rule_and_op(module, "start{0}") == ("operand", "dot", "dot.py")
    assert rule_and_op(module, "done") == ("operand", "dot", "dot.py")


def test_an_async_slice_is_followed_out_of_its_computation():
    module = """
wrapped {
  p0 = f32[4] parameter(0)
  ROOT slice = f32[2] slice(p0)
}
ENTRY main {
  dot = f32[4] dot(), op=dot
  slice-start = ((f32[4]), f32[2], u32[]) async-start(dot), calls=wrapped
  ROOT done = f32[2] async-done(slice-start)
}
"""
    # the dump writes the short form of what the module text writes as async-start
    texts = {"slice-start": "((f32[4]), f32[2], u32[]) slice-start(%dot), slice={[0:2]}"}
    schedule = ["slice", "slice-start", "done"]
    for label in ("slice", "slice-start{1}", "done"):
        found = rule_and_op(module, label, schedule=schedule, texts=texts)
        assert found == ("operand", "dot", "dot.py"), label


def test_a_value_without_a_name_belongs_to_the_first_scheduled_reader_with_one():
    module = """
inner {
  ROOT add = f32[] add(), op=inside
}
ENTRY main {
  zeros = f32[] constant(0)
  unnamed = f32[] negate(zeros)
  fusion = f32[] fusion(zeros), calls=inner
  late = f32[] add(zeros), op=late
  ROOT never = f32[] add(zeros), op=never
}
"""
    schedule = ["zeros", "unnamed", "fusion", "late"]
    readers = ["never", "late", "fusion", "unnamed"]
    found = rule_and_op(module, "zeros", schedule=schedule, readers=readers)
    assert found == ("reader", "inside", "inside.py")


def test_a_moving_reader_does_not_pass_on_the_name_of_its_operand():
    module = """
ENTRY main {
  zeros = f32[] constant(0)
  ROOT copy = f32[] copy(zeros)
}
"""
    assert rule_and_op(module, "zeros", schedule=["zeros", "copy"], readers=["copy"]) is None


def test_the_search_ends_for_instructions_that_read_each_other():
    module = """
ENTRY main {
  a = f32[] copy(b)
  ROOT b = f32[] copy(a)
}
"""
    assert rule_and_op(module, "a") is None


STACKS = """\
HloModule m

FileNames
1 "/home/me/train.py"
2 "/venv/lib/python3.12/site-packages/flax/linen.py"

FunctionNames
1 "main"
2 "apply"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 column=3}
2 {file_name_id=2 function_name_id=2 line=9 column=3}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=2 parent_frame_id=1}

ENTRY main {
  library = f32[] sine(), metadata={op_name="a" stack_frame_id=2}
  only = f32[] sine(), metadata={op_name="a" stack_frame_id=3}
  plain = f32[] sine(), metadata={op_name="a" source_file="my.py" source_line=3}
  installed = f32[] sine(), metadata={op_name="a" source_file="/x/dist-packages/j.py" source_line=3}
  ROOT t = () tuple()
}
"""


@pytest.mark.parametrize(
    ("label", "line"),
    [
        ("library", ("/home/me/train.py", 7, "main")),
        ("only", None),
        ("plain", ("my.py", 3, None)),
        ("installed", None),
    ],
)
def test_the_line_of_the_user_lies_outside_of_installed_packages(label, line):
    found = attributed(STACKS, label)
    assert found is not None
    assert found.user_line == line


def test_the_innermost_frame_is_the_source_line_even_in_a_package():
    found = attributed(STACKS, "library")
    assert found is not None
    assert (found.source_file, found.source_line) == (
        "/venv/lib/python3.12/site-packages/flax/linen.py",
        9,
    )


def test_a_line_that_does_not_fit_is_not_an_instruction_and_stops_nothing():
    module = """
inner {
  p = f32[8]{0} parameter(0)
  q = f32[8]{0} junk
  n = f32[8]{0} negate(p), op=n
  ROOT r = f32[8]{0} add(q, n)
}
ENTRY main {
  a = f32[8]{0} parameter(0)
  ROOT fusion = f32[8]{0} fusion(a), calls=inner
}
"""
    assert rule_and_op(module, "fusion") == ("inside", "n", "n.py")


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("a = (f32[]) tuple(a#0)", "a{0}"),
        ("a = f32[] get-tuple-element(a), index=0", "a"),
        ("a = f32[] copy(a#0)", "a"),
    ],
)
def test_an_instruction_that_is_its_own_operand_belongs_to_nothing(line, label):
    assert rule_and_op(f"ENTRY main {{\n  ROOT {line}\n}}\n", label) is None


def test_the_search_inside_ends_at_an_instruction_that_is_its_own_operand():
    module = """
inner {
  ROOT a = f32[] get-tuple-element(a), index=0
  unused = f32[] sine(), op=b
}
ENTRY main {
  ROOT fusion = f32[] fusion(), calls=inner
}
"""
    assert rule_and_op(module, "fusion") is None
