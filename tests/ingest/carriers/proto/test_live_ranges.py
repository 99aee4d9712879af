"""Live ranges are derived from the schedule as in XLA, and cut by must-alias sets."""

import pytest

from tests.ingest.carriers.proto.small_protos import alias, hlo, problems, ranges, read

CALLED = (
    "f:\n  a = f32[4] parameter(0)\n  m = f32[4] negate(a) <1>\n  ROOT n = f32[4] add(m, m) <2>\n"
    "main:\n  p = f32[4] parameter(0) <3>\n  q = f32[4] negate(p) <4>\n"
    "  c = f32[4] call(q) calls=f\n  ROOT r = f32[4] add(c, c) <5>\n"
)
CHAIN = (
    "main:\n  p = f32[4] parameter(0) <1>\n  a = f32[4] negate(p) <2>\n  b = f32[4] negate(a) <3>\n"
    "  ROOT c = f32[4] negate(b) <4>\n"
)
SLICED = (
    "f:\n  a = f32[4] parameter(0)\n  ROOT n = f32[2] slice(a) <1>\n"
    "main:\n  p = f32[4] parameter(0) <2>\n  q = f32[4] negate(p) <6>\n"
    "  s = ((f32[4]), f32[2], s32[]) async-start(p) calls=f <3{} 4{0} 5{2}>\n"
    "  x = f32[4] negate(q) <7>\n  d = f32[2] async-done(s)\n  ROOT e = f32[2] negate(d) <8>\n"
)


def test_a_value_lives_from_its_step_to_its_last_reader():
    plan, _ = read(hlo(CHAIN))
    assert plan.live_ranges is not None
    assert plan.live_ranges.schedule == ("p", "a", "b", "c")
    assert ranges(plan) == {"p{}": "0-4", "a{}": "1-2", "b{}": "2-3", "c{}": "3-4"}


def test_a_donated_parameter_ends_where_it_is_read_last():
    message = hlo(CHAIN)
    message.hlo_module.input_output_alias.entries.add(kind=1)
    plan, program = read(message)
    assert ranges(plan)["p{}"] == "0-1"
    assert dict(program.output_by_donated) == {(0, "{}"): "{}"}


def test_values_that_share_bytes_end_where_the_next_one_begins():
    message = hlo(CHAIN)
    alias(message, 2, 4)
    plan, _ = read(message)
    assert plan.buffer_sets == {1: 1, 2: 2, 3: 3, 4: 2}
    assert ranges(plan) == {"p{}": "0-4", "a{}": "1-2", "b{}": "2-3", "c{}": "3-4"}
    alias(message, 3, 4)
    plan, _ = read(message)
    assert plan.buffer_sets == {1: 1, 2: 2, 3: 2, 4: 2}
    assert ranges(plan)["b{}"] == "2-3"


def test_names_instead_of_ids_select_the_early_cut_of_tensorflow_2_8():
    message = hlo(CHAIN)
    alias(message, 2, 3)
    assert ranges(read(message)[0])["a{}"] == "1-2"
    names = {each.id: each.name for each in message.hlo_module.computations[0].instructions}
    for buffer in message.buffer_assignment.logical_buffers:
        buffer.defined_at.instruction_name = names[buffer.defined_at.instruction_id]
        buffer.defined_at.ClearField("instruction_id")
    assert ranges(read(message)[0])["a{}"] == "1-1"


def test_a_called_computation_precedes_its_call_and_reads_the_operands():
    plan, _ = read(hlo(CALLED))
    assert plan.live_ranges is not None
    assert plan.live_ranges.schedule == ("p", "q", "a", "m", "n", "c", "r")
    assert ranges(plan) == {"p{}": "0-7", "q{}": "1-3", "m{}": "3-4", "n{}": "4-6", "r{}": "6-7"}


def test_a_loop_reads_where_its_body_begins():
    plan, _ = read(
        hlo(
            "cond:\n  c = (f32[4]) parameter(0) <1{}>\n  ROOT l = pred[] constant() <2>\n"
            "body:\n  b = (f32[4]) parameter(0) <3{} 10{0}>\n"
            "  x = f32[4] get-tuple-element(b) calls=0\n  y = f32[4] negate(x) <4>\n"
            "  ROOT n = (f32[4]) tuple(y) <5{}>\n"
            "main:\n  p = f32[4] parameter(0) <6>\n  q = f32[4] negate(p) <7>\n"
            "  t = (f32[4]) tuple(q) <8{}>\n"
            "  ROOT w = (f32[4]) while(t) calls=body,cond <9{} 11{0}>\n"
        )
    )
    found = ranges(plan)
    assert plan.live_ranges is not None
    assert plan.live_ranges.schedule == ("p", "q", "t", "c", "l", "b", "x", "y", "n", "w")
    assert found["q{}"] == "1-5"  # the step of `b`
    assert found["b{0}"] == "5-7"
    assert found["y{}"] == "7-9"  # one step after its computation
    assert found["w{0}"] == "9-10"


def test_a_value_in_an_asynchronous_computation_lives_until_the_wait():
    plan, _ = read(hlo(SLICED))
    assert plan.live_ranges is not None
    assert plan.live_ranges.schedule == ("p", "q", "a", "n", "s", "x", "d", "e")
    assert ranges(plan)["n{}"] == "3-7"


def test_a_heap_trace_that_agrees_confirms_the_ranges():
    plan, _ = read(hlo(CHAIN, traces=["alloc 2, alloc 3, free 2, alloc 4, free 3, free 4"]))
    assert plan.heap_trace_agrees is True


@pytest.mark.parametrize("trace", ["alloc 3, alloc 2", "alloc 2, free 4, free 2"])
def test_a_contradicting_heap_trace_is_reported(trace: str):
    message = hlo(CHAIN, traces=[trace])
    plan, _ = read(message)
    assert plan.heap_trace_agrees is False
    assert problems(message) == [
        (
            "jit_f(8).hlo_proto.pb: its heap trace contradicts its derived live ranges: live "
            "ranges, peaks and reuse are uncertain; dump the text too: --xla_dump_hlo_as_text"
        )
    ]


def test_without_a_heap_trace_nothing_confirms_the_ranges():
    assert read(hlo(CHAIN))[0].heap_trace_agrees is None


def test_a_heap_trace_selects_the_rules_of_libtpu_0_0_50():
    standard, _ = read(hlo(SLICED, traces=["alloc 1, alloc 7, free 1"]))
    assert ranges(standard)["n{}"] == "3-7"
    sliced, _ = read(hlo(SLICED, traces=["alloc 3, alloc 1, alloc 7, free 1"]))
    assert ranges(sliced)["n{}"] == "4-7"
    assert sliced.heap_trace_agrees is True


def test_messages_of_jaxlib_0_12_have_these_rules_even_if_no_trace_tells():
    message = hlo(SLICED)
    message.hlo_module.computations[-1].instructions[1].of_product = b""
    assert ranges(read(message)[0])["n{}"] == "4-7"


def test_a_heap_trace_selects_the_old_rule_of_calls():
    plan, _ = read(hlo(CALLED, traces=["alloc 4, alloc 1, alloc 2, free 1, free 4, alloc 5"]))
    assert ranges(plan)["q{}"] == "1-5"
    assert plan.heap_trace_agrees is True


def test_the_order_of_vmem_is_ignored():
    message = hlo(CHAIN, traces=["alloc 3, alloc 2"])
    for buffer in message.buffer_assignment.logical_buffers:
        buffer.color = 1
    assert read(message)[0].heap_trace_agrees is None


def test_without_a_schedule_there_are_no_ranges_and_the_reason_is_reported():
    message = hlo(CHAIN, is_scheduled=False)
    plan, _ = read(message)
    assert plan.live_ranges is None
    assert plan.derived == ("total", "positions", "uses")
    assert problems(message) == [
        (
            "jit_f(8).hlo_proto.pb: its module has no schedule: live ranges, peaks and "
            "reuse are unknown; dump the text too: --xla_dump_hlo_as_text"
        )
    ]


def test_the_peak_is_at_the_step_that_xla_finds():
    plan, _ = read(
        hlo(
            "main:\n  p = f32[4] parameter(0) <1>\n  a = f32[9] broadcast(p) <2>\n"
            "  t = (f32[4], f32[9]) tuple(p, a) <3{}>\n"
            "  ROOT g = f32[9] get-tuple-element(t) calls=1\n"
        )
    )
    assert plan.live_ranges is not None
    assert plan.live_ranges.peak is not None
    assert plan.live_ranges.peak.step == 2
    assert plan.live_ranges.peak.entries == (
        ("a", "{}", 36, 36), ("p", "{}", 16, 52), ("t", "{}", 16, 68),
    )  # fmt: skip


def test_new_values_are_added_before_ended_ones_are_subtracted():
    plan, _ = read(
        hlo(
            "main:\n  p = f32[1] parameter(0) <1>\n  a = f32[8] broadcast(p) <2>\n"
            "  b = f32[2] slice(a) <3>\n  ROOT c = f32[2] negate(b) <4>\n"
        )
    )
    assert plan.live_ranges is not None
    assert plan.live_ranges.peak is not None
    assert plan.live_ranges.peak.step == 3  # `a` ended one step earlier and still counts
    assert [entry.name for entry in plan.live_ranges.peak.entries] == ["b", "c", "p"]
