"""Unusual dumps of users and rare producers are read, and render back unchanged."""

import re
from dataclasses import replace

import pytest

from tests.ingest.carriers.text.sample_dumps import NEW, sample
from xlagraph.ingest.carriers.text.parser import parse_plan
from xlagraph.ingest.carriers.text.printed_plan import PrintedPlan, Style
from xlagraph.ingest.carriers.text.render import render_plan
from xlagraph.ingest.carriers.text.text import DumpPart
from xlagraph.ingest.errors import ParseError
from xlagraph.ingest.plan import Allocation, ParameterStorage, Position, Use

ALLOCATIONS = NEW[: NEW.index("\nTotal")]
TOTALS = NEW[NEW.index("\nTotal") : NEW.index("\n\nHloLiveRange")]
LIVE_RANGES = NEW[NEW.index("HloLiveRange") :]


def parsed(*texts):
    """Parse a dump, and check that its plan renders back."""
    plan = parse_plan([DumpPart(f"{number}.txt", text) for number, text in enumerate(texts)])
    assert render_plan(plan) == texts
    return plan


def facts(plan):
    return (plan.allocations, plan.values, plan.total_bytes, plan.used_values, plan.live_ranges)


@pytest.mark.parametrize(
    "text",
    [
        NEW.replace("\n", "\r\n"),
        "\ufeff" + NEW,
        "\ufeff" + NEW.replace("\n", "\r\n"),
        NEW.replace("\n", "\n\n\n"),
        NEW.replace("\n\n", "\n"),
        f"\n\n{NEW}\n\n\n",
        NEW.replace("  arg1.2\n uses", "  arg1.2\n\n uses").replace("\n", "\r\n"),
        NEW.replace("    1:arg1.2\n", "    1:arg1.2\n\n\n"),
    ],
    ids=[
        "CR LF",
        "byte order mark",
        "byte order mark and CR LF",
        "blank lines everywhere",
        "no blank lines",
        "blank lines around",
        "a blank line within a used value",
        "blank lines within the schedule",
    ],
)
def test_other_line_ends_and_blank_lines_change_nothing(text):
    plan = parsed(text)
    assert facts(plan) == facts(parsed(NEW))
    assert plan.instructions == parsed(NEW).instructions


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_files_can_be_given_in_any_order(order):
    parts = (ALLOCATIONS, TOTALS, LIVE_RANGES)
    assert facts(parsed(*[parts[number] for number in order])) == facts(parsed(NEW))


def test_missing_companions_are_missing_facts():
    plan = parsed(ALLOCATIONS)
    assert (plan.total_bytes, plan.used_values, plan.live_ranges) == (None, None, None)
    assert parsed(ALLOCATIONS, LIVE_RANGES).used_values is None
    assert parsed(TOTALS, ALLOCATIONS).live_ranges is None


def test_allocations_without_values_and_without_sizes_are_read():
    plan = parsed("BufferAssignment:\nallocation 3: size 0, color -2, preallocated-temp:\n")
    assert [(each.number, each.size_bytes, each.memory_space) for each in plan.allocations] == [
        (3, 0, -2)
    ]
    assert plan.values == ()


def test_parameter_without_shape_and_index_is_read():
    plan = parsed("BufferAssignment:\nallocation 0: size 8, parameter 2, thread-local:\n")
    assert plan.allocations[0].parameter == ParameterStorage(2, None, None)


def test_live_ranges_that_are_not_available_are_none():
    plan = parsed(ALLOCATIONS, "HloLiveRange not available: rebuilt from a proto\n")
    assert plan.live_ranges is None
    assert plan.style.live_ranges_remark == "HloLiveRange not available: rebuilt from a proto"


def test_peak_that_xla_could_not_determine_is_none():
    start = LIVE_RANGES.index("  Live ranges at")
    remark = "  Peak memory could not be determined because of no buffers."
    plan = parsed(ALLOCATIONS, f"{LIVE_RANGES[:start]}{remark}\n")
    assert plan.live_ranges.peak is None
    assert len(plan.live_ranges.ranges) == 4


def test_uses_that_xla_did_not_compute_are_an_empty_list():
    text = NEW.replace(" uses:\n  add.3, operand 0\n", " uses are not initialized yet.\n")
    plan = parsed(text)
    assert plan.used_values[0].uses == ()
    assert plan.used_values[1].uses == (Use("add.3", 1, None),)
    assert plan.style.values_without_uses == {0}


def test_a_wrong_printed_total_is_not_a_parse_error():
    assert parsed(NEW.replace("used: 56 (56B)", "used: 57 (57B)")).total_bytes == 57


def test_older_stack_trace_is_kept_unchanged():
    start = NEW.index("    main.5")
    lines = ("    main.5 (100.0%, 56 bytes)", "      odd é, {1} (50.0%, 28 bytes)")
    plan = parsed(NEW[:start] + "\n".join(lines) + "\n")
    assert plan.peak_stack_trace[1:] == lines


def test_a_peak_of_no_bytes_has_a_stack_trace_without_lines():
    zeros = re.sub(r"\d+ bytes", "0 bytes", NEW[: NEW.index("    main.5")])
    trace = parsed(zeros).peak_stack_trace
    assert trace == ("  Stack trace breakdown for peak usage: 0 bytes",)


@pytest.mark.parametrize(
    "label", ["new\nline", "new\n\nline\n", "\n    four", "a\n  Live ranges at"]
)
def test_a_label_of_the_stack_trace_may_contain_line_ends(label):
    start = NEW.index("    main.5")
    trace = (
        f"    main.5 {label} (100.0%, total: 56 bytes, current: 8 bytes, remaining: 48 bytes)\n"
        f"      └── {label} (85.7%, total: 48 bytes, current: 48 bytes, remaining: 0 bytes)\n"
    )
    text = NEW[:start] + trace
    plan = parsed(text)
    assert "\n".join(plan.peak_stack_trace[1:]) + "\n" == trace
    apart = parse_plan([DumpPart.decoded("a.txt", text.encode())])
    assert apart == plan


@pytest.mark.parametrize("generation", ["jaxlib-0.4.30", "jaxlib-0.5.3", "jaxlib-0.9.2"])
def test_a_string_of_an_instruction_may_contain_line_ends(generation):
    text = sample(generation)
    before = parsed(text).instructions
    for name, instruction in before.items():
        longer = f'{instruction}, frontend_attributes={{a="x\n\\"y\n}}\n"}}'
        plan = parsed(text.replace(f"{name} = {instruction}", f"{name} = {longer}"))
        assert plan.instructions == before | {name: longer}
        assert facts(plan) == facts(parsed(text))


def test_value_without_color_has_none():
    plan = parsed(NEW.replace("<2 add.3 @0>", "<2 add.3>"))
    assert [value.memory_space for value in plan.values] == [0, 0, None, 0]


def test_value_in_another_memory_space_than_its_allocation_is_data():
    plan = parsed(NEW.replace("<2 add.3 @0>", "<2 add.3 @-1>"))
    assert [value.memory_space for value in plan.values] == [0, 0, -1, 0]


@pytest.mark.parametrize(
    "name",
    [
        "a b",
        "a{1",
        "{}",
        "'); MATCH (n) DETACH DELETE n; //",
        "quotes \" ' ` and \x1b[31m colours",
        "comma, colon: and > less <",
        "a (phi)b",
        "a @b",
        "é└──",
        "a\rb",
        "a\u2028b\x0cc\x85d",
        "x" * 1_000_000,
        "{1," * 100_000,
        ", operand" * 50_000,
    ],
)
def test_unusual_name_is_data(name):
    plan = parsed(NEW.replace("add.3", name))
    assert [value.name for value in plan.values] == ["arg0.1", "arg1.2", name, "tuple.4"]
    assert plan.used_values[0].uses == (Use(name, 0, None),)
    assert plan.used_values[2].positions == (Position(name, None), Position("tuple.4", "{0}"))
    assert name in plan.instructions
    assert plan.live_ranges.schedule[2] == name
    assert plan.live_ranges.ranges[2].name == name
    assert plan.live_ranges.peak.entries[2].name == name


@pytest.mark.parametrize("generation", ["tensorflow-1.14", "tensorflow-1.15"])
def test_unusual_name_is_data_in_the_oldest_forms(generation):
    text = sample(generation)
    plan = parsed(text.replace("arg1.2", "a b, [c] (#1"))
    assert plan.values[1].name == "a b, [c] (#1"


LOOP = """BufferAssignment:
allocation 0: size 16, maybe-live-out:
 value: <4 while.1{0} (phi) @0> (size=16,offset=0): f32[4]{0}
 value: <5 while.1{1} (phi) @0> (size=8,offset=8): f32[2]{0}
 value: <6 while.1{} (phi) @0> (size=16,offset=0): (f32[4]{0}, f32[2]{0})

Total bytes used: 16 (16B)

Used values:
<4 while.1{0} (phi) @0>
 positions:
  while.1 {0}
 uses:
 from instruction: %while.1 = (f32[4]{0}, f32[2]{0}) while(%t), body=%b
<5 while.1{1} (phi) @0>
 positions:
  while.1 {1}
  get-tuple-element.2
 uses:
  add.3, operand 1 {0,1}
  add.3, operand 0
 from instruction: %while.1 = (f32[4]{0}, f32[2]{0}) while(%t), body=%b
<6 while.1{} (phi) @0>
 positions:
  while.1 {}
 uses:
  get-tuple-element.2, operand 0 {}
 from instruction: %while.1 = (f32[4]{0}, f32[2]{0}) while(%t), body=%b
"""


@pytest.mark.parametrize("glue", ["", "<"])
def test_leaves_of_a_tuple_share_one_instruction(glue):
    plan = parsed(LOOP.replace("body=%b\n<", "body=%b<") if glue else LOOP)
    assert plan.instructions == {"while.1": "(f32[4]{0}, f32[2]{0}) while(%t), body=%b"}
    assert [value.label for value in plan.values] == ["while.1{0}", "while.1{1}", "while.1{}"]
    assert all(value.is_phi for value in plan.values)
    assert plan.used_values[1].uses == (Use("add.3", 1, "{0,1}"), Use("add.3", 0, None))


def test_every_empty_list_of_uses_prints_none_or_no_list_does():
    plan = parsed(LOOP.replace(" uses:\n from", " uses:\n  (none)\n from"))
    assert plan.style.prints_none
    text = LOOP.replace("  get-tuple-element.2, operand 0 {}\n", "")
    assert not parsed(text).style.prints_none
    plan = parsed(text.replace(" uses:\n from", " uses:\n  (none)\n from"))
    assert [used.uses for used in plan.used_values if used.value_id != 5] == [(), ()]


@pytest.mark.parametrize(
    ("printed", "shape", "label"),
    [
        ("x[]", "f32[4]{0}", "x"),
        ("x[]", "(f32[4]{0})", "x{}"),
        ("x[0]", "f32[4]{0}", "x{0}"),
        ("x[1,0]", "()", "x{1,0}"),
    ],
)
def test_logical_buffer_has_an_index_if_its_instruction_is_a_tuple(printed, shape, label):
    text = f"BufferAssignment:\nallocation 0: size 4:\n  {printed}(#7 @0) [0,4]: {shape}\n"
    (value,) = parsed(text).values
    assert value.label == label


def test_logical_buffer_without_color_is_read():
    text = "BufferAssignment:\nallocation 0: size 4:\n  x[](#7) [0,4]: f32[]\n"
    assert parsed(text).values[0].memory_space is None


def test_plan_without_style_renders_as_one_file_of_the_newest_forms():
    plan = replace(parsed(NEW), style=Style())
    assert render_plan(plan) == (NEW.replace("\n\n\n", "\n").replace("\n\n", "\n"),)


def test_plan_renders_only_the_sections_that_it_has():
    plan = PrintedPlan((Allocation(0, 8, is_constant=True),), (), None, None, None)
    assert render_plan(plan) == ("BufferAssignment:\nallocation 0: size 8, constant:\n",)


@pytest.mark.parametrize("end", ["", "\n\n", "  more\n"], ids=["whole", "blank lines", "more"])
def test_a_stack_trace_decoded_separately_is_read_the_same(end):
    text = NEW + end
    part = DumpPart.decoded("0.txt", text.encode())
    assert part.text.isascii()
    assert part.rest
    if end.strip():
        with pytest.raises(ParseError) as apart:
            parse_plan([part])
        with pytest.raises(ParseError) as whole:
            parse_plan([DumpPart("0.txt", text)])
        assert str(apart.value) == str(whole.value)
    else:
        assert parse_plan([part]) == parsed(text)
