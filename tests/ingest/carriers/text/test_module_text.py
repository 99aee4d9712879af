"""A module text gives computations, call stacks and the root of each fusion."""

from xlagraph.ingest.carriers.text.instruction_text import (
    NO_FACTS,
    InstructionFacts,
    instruction_facts,
)
from xlagraph.ingest.carriers.text.module_text import ModuleText, StackFrame, parse_module_text

NEW = """\
HloModule jit_step, is_scheduled=true, entry_computation_layout={(f32[8]{0})->f32[8]{0}}

FileNames
1 "/src/train.py"
2 "/src/caf\\303\\251.py"

FunctionNames
1 "<module>"
2 "step.<locals>.<lambda>"

FileLocations
1 {file_name_id=1 function_name_id=1 line=50 end_line=50 column=18 end_column=62}
2 {file_name_id=2 function_name_id=2 line=9 end_line=9 column=0 end_column=4}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

%fused_computation.1 (param_0: f32[8]) -> f32[8] {
  %param_0 = f32[8]{0} parameter(0)
  %negate.1 = f32[8]{0} negate(%param_0)
  ROOT %tanh.1 = f32[8]{0} tanh(%negate.1)
}

ENTRY %main.3 (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0), metadata={op_name="x"}
  ROOT %fusion = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused_computation.1, \
metadata={op_name="jit(step)/tanh" stack_frame_id=2}
}

"""

SHORT = """\
HloModule cluster.7

fused_computation {
  param_0 = f32[] parameter(0)
  ROOT add.0 = f32[] add(param_0, param_0)
} // fused_computation

ENTRY main {
  x.1 = f32[] parameter(0)
  ROOT fusion.2 = f32[] fusion(x.1), kind=kLoop, calls=fused_computation, \
metadata={source_file="a.py" source_line=3}
}
"""


def facts(module: ModuleText, name: str) -> InstructionFacts:
    return instruction_facts(module.instructions[name].text)


def root_opcode(module: ModuleText, name: str) -> str | None:
    return module.root_opcode(facts(module, name))


def test_only_the_instructions_asked_for_are_kept():
    module = parse_module_text(NEW, {"x", "fusion", "get-tuple-element.9"})
    assert set(module.instructions) == {"x", "fusion"}


def test_an_instruction_knows_its_computation_and_a_fusion_its_root():
    module = parse_module_text(NEW, ["x", "fusion", "tanh.1"])
    assert module.instructions["x"].computation == "main.3"
    assert root_opcode(module, "x") is None
    assert root_opcode(module, "fusion") == "tanh"
    assert module.instructions["tanh.1"].computation == "fused_computation.1"


def test_the_short_form_of_names_and_headers_says_the_same():
    module = parse_module_text(SHORT, {"x.1", "fusion.2"})
    assert module.instructions["x.1"].computation == "main"
    assert root_opcode(module, "fusion.2") == "add"
    assert facts(module, "fusion.2").calls == "fused_computation"
    assert module.frames == {}


def test_windows_line_ends_and_a_byte_order_mark_change_nothing():
    names = {"x", "fusion"}
    marked = "\N{BYTE ORDER MARK}" + NEW.replace("\n", "\r\n")
    assert parse_module_text(marked, names) == parse_module_text(NEW, names)


def test_frames_tell_the_place_and_the_printed_parent_counts_from_one():
    frames = parse_module_text(NEW, ()).frames
    assert frames == {
        1: StackFrame("<module>", "/src/train.py", 50, 18, None),
        2: StackFrame("step.<locals>.<lambda>", "/src/café.py", 9, 0, 1),
    }


def test_the_place_is_the_instructions_own_or_that_of_its_innermost_frame():
    module = parse_module_text(NEW, {"x", "fusion"})
    assert module.source_location(facts(module, "fusion")) == ("/src/café.py", 9)
    assert module.source_location(facts(module, "x")) == (None, None)
    own = InstructionFacts(None, None, None, "own.py", 4, 2, None, None, None)
    assert module.source_location(own) == ("own.py", 4)
    assert module.source_location(own._replace(source_file=None, stack_frame_id=99)) == (None, None)


def test_a_fusion_of_an_unknown_computation_has_no_root():
    text = "ENTRY main {\n  a = f32[] fusion(), calls=gone\n  b = f32[] fusion()\n}\n"
    module = parse_module_text(text, {"a", "b"})
    assert [root_opcode(module, name) for name in ("a", "b")] == [None, None]


def callers(*printed_parents):
    rows = [
        f"{number} {{file_location_id=1 parent_frame_id={parent}}}"
        for number, parent in enumerate(printed_parents, 1)
    ]
    frames = parse_module_text("\n".join(["StackFrames", *rows]), ()).frames
    return {number: frame.caller for number, frame in frames.items()}


def test_a_circle_of_frames_is_cut_once():
    assert callers(1, 4, 3) == {1: None, 2: 3, 3: None}
    assert callers(2) == {1: None}
    assert callers(1, 2, 5, 4) == {1: None, 2: 1, 3: 4, 4: None}
    assert callers(4, 1, 5, 4) == {1: 3, 2: None, 3: 4, 4: None}


def test_a_caller_that_is_not_in_the_table_is_none():
    assert callers(0, 99) == {1: None, 2: None}


def test_broken_tables_leave_holes_and_not_errors():
    text = "StackFrames\n1 {file_location_id=5 parent_frame_id=1}\n2 what\n3 {}\nx y\n"
    nowhere = StackFrame(None, None, None, None, None)
    assert parse_module_text(text, ()).frames == {1: nowhere, 2: nowhere, 3: nowhere}


def test_lines_that_do_not_fit_are_passed_over():
    text = "garbage\n  more = garbage\n  ROOT\n  ROOT x\n{\n}\n  \n%%% {\n"
    module = parse_module_text(text, {"more", ""})
    assert facts(module, "more") == NO_FACTS
