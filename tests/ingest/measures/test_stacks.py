"""Stacks that a loop fills belong to the result that a turn writes, not to the loop."""

import pytest

from xlagraph.hlo.module_text import parse_module_text
from xlagraph.hlo.shapes import parse_shape
from xlagraph.ingest.carriers.text.printed_plan import PrintedPlan
from xlagraph.ingest.measures.compilation_facts import CompilationFacts, derive_facts
from xlagraph.ingest.plan import Allocation, LiveRanges, Value

SCAN = """
widen {
  old = f32[8,4] parameter(0)
  new = f32[4] parameter(1)
  turn.1 = s32[] parameter(2)
  part = f32[1,4] bitcast(new), op=broadcast_in_dim @ 12
  ROOT write = f32[8,4] dynamic-update-slice(old, part, turn.1, turn.1), op=update @ 12
}
body {
  state = (s32[], f32[8,4], f32[4], f32[8,4]) parameter(0)
  turn = s32[] get-tuple-element(state), index=0
  stack = f32[8,4] get-tuple-element(state), index=1
  carry = f32[4] get-tuple-element(state), index=2
  table = f32[8,4] get-tuple-element(state), index=3
  copied = f32[4] copy(carry), op=body @ 12
  soft = f32[4] exponential(copied), op=exp @ 7
  tall = f32[8,4] fusion(stack, PART, turn), calls=widen, op=update @ 12
  gelu = f32[4] tanh(soft), op=tanh @ 9
  ROOT next = (s32[], f32[8,4], f32[4], f32[8,4]) tuple(turn, tall, gelu, table)
}
condition {
  state.1 = (s32[], f32[8,4], f32[4], f32[8,4]) parameter(0)
  ROOT more = pred[] compare(state.1)
}
ENTRY main {
  zero = f32[] constant(0)
  first = s32[] constant(0)
  x = f32[4] parameter(0), op=x @ 1
  rows = f32[8,4] parameter(1), op=rows @ 1
  zeros = f32[8,4] broadcast(zero), op=broadcast_in_dim @ 12
  fresh = f32[8,4] copy(zeros)
  begin = (s32[], f32[8,4], f32[4], f32[8,4]) tuple(first, fresh, x, rows)
  loop = (s32[], f32[8,4], f32[4], f32[8,4]) while(begin), condition=condition, body=body, op=while @ 12
  ROOT all = f32[8,4] get-tuple-element(loop), index=1
}
"""  # noqa: E501
IN_ITS_BYTES = ("fresh", "state.1{1}", "state{1}", "tall", "loop{1}")


def facts_of(module: str, *labels: str) -> CompilationFacts:
    """Derive the facts of values of 128 bytes in a program."""
    lines = [
        line
        if (found := line.partition(" op="))[1] == ""
        else '{} metadata={{op_name="{}" source_file="f.py" source_line={}}}'.format(
            found[0], *found[2].partition(", ")[0].split(" @ ")
        )
        + "".join(found[2].partition(", ")[1:])
        for line in module.splitlines()
    ]
    values = [
        Value(number, name, brace + index or None, False, 0, 0, 0, 128, parse_shape("f32[8,4]"))
        for number, (name, brace, index) in enumerate(label.partition("{") for label in labels)
    ]
    schedule = ("zeros", "fresh", "soft", "tall", "gelu", "loop")
    plan = PrintedPlan(
        allocations=(Allocation(0, 128),),
        values=tuple(values),
        total_bytes=None,
        used_values=(),
        instructions={},
        live_ranges=LiveRanges(len(schedule), schedule, (), None),
    )
    return derive_facts(plan, parse_module_text("\n".join(lines), plan.instructions))


def owners(module: str, *labels: str) -> list[tuple[str, str, int | None]]:
    """Return rule, op name and line of each value's attribution."""
    found = facts_of(module, *labels).attributions
    return [(each.rule.value, each.op_name, each.source_line) for each in found if each]


def test_all_values_in_a_stack_belong_to_the_result_that_a_turn_writes():
    found = owners(SCAN.replace("PART", "soft"), *IN_ITS_BYTES)
    assert found == [("stack", "exp", 7)] * len(IN_ITS_BYTES)


def test_an_asynchronous_fusion_writes_into_the_stack_that_it_reads():
    start = "((f32[8,4], f32[4], s32[]), f32[8,4], u32[]) async-start(stack, soft, turn)"
    module = SCAN.replace(
        "tall = f32[8,4] fusion(stack, PART, turn), calls=widen",
        f"begun = {start}, calls=wrap, op=update @ 12\n  tall = f32[8,4] async-done(begun)",
    ).replace(
        "\nbody {",
        """
wrap {
  whole = f32[8,4] parameter(0)
  row = f32[4] parameter(1)
  at = s32[] parameter(2)
  ROOT inner = f32[8,4] fusion(whole, row, at), calls=widen, op=update @ 12
}
body {""",
    )
    labels = (*IN_ITS_BYTES, "inner")
    assert owners(module, *labels) == [("stack", "exp", 7)] * len(labels)


BRANCHES = """
keep {
  same = (f32[8,4]) parameter(0)
  old.1 = f32[8,4] get-tuple-element(same), index=0
  ROOT kept = (f32[8,4]) tuple(KEPT)
}
write {
  args = (f32[8,4], f32[4], s32[]) parameter(0)
  whole = f32[8,4] get-tuple-element(args), index=0
  row = f32[4] get-tuple-element(args), index=1
  at = s32[] get-tuple-element(args), index=2
  inner = f32[8,4] fusion(whole, row, at), calls=widen, op=update @ 12
  ROOT written = (f32[8,4]) tuple(inner)
}
body {"""


@pytest.mark.parametrize(("kept", "is_stack"), [("old.1", True), ("other", False)])
def test_a_branch_may_write_the_part_of_a_turn(kept, is_stack):
    branches = BRANCHES.replace("KEPT", kept)
    if kept != "old.1":
        branches = branches.replace("  ROOT kept", "  other = f32[8,4] negate(old.1)\n  ROOT kept")
    module = SCAN.replace("\nbody {", branches).replace(
        "tall = f32[8,4] fusion(stack, PART, turn), calls=widen, op=update @ 12",
        "skipped = (f32[8,4]) tuple(stack)\n  given = (f32[8,4], f32[4], s32[]) tuple(stack, soft,"
        " turn)\n  chosen = (f32[8,4]) conditional(turn, skipped, given),"
        " branch_computations={keep, write}\n  tall = f32[8,4] get-tuple-element(chosen), index=0",
    )
    labels = ("loop{1}", "inner")
    found = owners(module, *labels)
    assert (found == [("stack", "exp", 7)] * len(labels)) == is_stack


def test_a_stack_contains_a_part_of_each_turn():
    facts = facts_of(SCAN.replace("PART", "soft"), *IN_ITS_BYTES)
    assert set(facts.stacks) == {("loop", 8, "soft")}


def test_carried_state_belongs_to_the_result_of_the_previous_turn():
    assert owners(SCAN.replace("PART", "copied"), "loop{1}") == [("stack", "tanh", 9)]


def test_state_that_is_passed_on_unchanged_belongs_to_the_value_passed_in():
    module = SCAN.replace("fusion(stack, PART, turn)", "fusion(stack, row, turn)").replace(
        "  tall =", "  row = f32[4] dynamic-slice(table, turn), op=dynamic_slice @ 12\n  tall ="
    )
    assert owners(module, "loop{1}") == [("stack", "rows", 1)]


def test_a_conversion_of_a_stack_after_its_loop_belongs_to_what_a_turn_writes():
    module = SCAN.replace("PART", "soft").replace(
        "  ROOT all = f32[8,4] get-tuple-element(loop), index=1",
        "  all = f32[8,4] get-tuple-element(loop), index=1, op=while @ 12\n"
        "  wide = bf16[8,4] convert(all)\n  ROOT turned = bf16[4,8] transpose(wide)",
    )
    assert owners(module, "wide", "turned") == [("operand", "exp", 7)] * 2


def test_a_fusion_of_the_loop_s_line_that_rounds_at_its_end_is_what_it_computes():
    rounding = """
rounded {
  taken = f32[4] parameter(0)
  exact = f32[4] sine(taken), op=sin @ 8
  ROOT short = f32[4] convert(exact), op=closed_call @ 12
}
body {"""
    module = SCAN.replace("PART", "soft").replace("\nbody {", rounding)
    module = module.replace(
        "exponential(copied), op=exp @ 7", "fusion(copied), calls=rounded, op=x @ 12"
    )
    assert owners(module, "loop{1}") == [("stack", "sin", 8)]
    assert facts_of(module, "loop{1}").stacks == (("loop", 8, "soft"),)


def test_a_write_at_another_line_than_the_loop_belongs_to_the_user():
    module = SCAN.replace("PART", "soft").replace("op=update @ 12", "op=scatter @ 5")
    assert owners(module, "loop{1}") == [("stack", "scatter", 5)]


def test_other_state_of_a_loop_keeps_its_own_op():
    module, labels = SCAN.replace("PART", "soft"), ("loop{2}", "loop{3}", "soft")
    assert owners(module, *labels) == [
        ("own", "while", 12),
        ("own", "while", 12),
        ("own", "exp", 7),
    ]
    assert facts_of(module, *labels).stacks == (None, None, None)


def test_a_part_that_is_the_whole_is_not_a_stack():
    module = SCAN.replace("PART", "soft").replace("f32[1,4] bitcast", "f32[8,4] bitcast")
    assert owners(module, "loop{1}") == [("own", "while", 12)]


def test_state_of_which_the_turns_write_only_some_parts_is_not_a_stack():
    module = SCAN.replace("PART", "soft").replace(
        "op=while @ 12", "op=while @ 12, backend_config={known}"
    )
    few, enough = '{"known_trip_count":{"n":"7"}}', '{"known_trip_count":{"n":"8"}}'
    assert owners(module.replace("{known}", few), "loop{1}") == [("own", "while", 12)]
    assert owners(module.replace("{known}", enough), "loop{1}") == [("stack", "exp", 7)]


def test_the_initial_value_of_a_stack_keeps_its_op_if_the_user_made_it():
    module = SCAN.replace("PART", "soft").replace("op=broadcast_in_dim @ 12", "op=zeros @ 3")
    assert owners(module, "zeros", "fresh") == [("own", "zeros", 3), ("operand", "zeros", 3)]
    assert facts_of(module, "zeros", "fresh").stacks == (None, None)


def test_computations_know_the_innermost_loop_that_runs_them():
    facts = facts_of(SCAN.replace("PART", "soft"), "tall", "loop{1}")
    assert facts.loops == {"body": "loop", "condition": "loop", "widen": "loop"}
