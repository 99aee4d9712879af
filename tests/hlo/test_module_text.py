"""A module text is parsed into computations, call stacks and the root of each fusion."""

import pytest

from xlagraph.hlo.computation_text import PrintedComputation
from xlagraph.hlo.instruction import Attributes, ProgramError
from xlagraph.hlo.metadata import StackFrame
from xlagraph.hlo.module_text import parse_module_text
from xlagraph.hlo.program import Program
from xlagraph.hlo.shapes import parse_shape

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


def root_opcode(program: Program, name: str) -> str | None:
    return program.root_opcode(program.instructions[name])


def test_instructions_of_all_but_fused_computations_are_found_by_name():
    program = parse_module_text(NEW)
    assert set(program.instructions) == {"x", "fusion"}
    assert set(program.computations) == {"fused_computation.1", "main.3"}
    assert (program.name, program.entry_name) == ("jit_step", "main.3")


def test_an_instruction_knows_its_computation_and_a_fusion_its_root():
    program = parse_module_text(NEW)
    assert program.instructions["x"].computation == "main.3"
    assert root_opcode(program, "x") is None
    assert root_opcode(program, "fusion") == "tanh"
    assert program.computations["fused_computation.1"]["tanh.1"].opcode == "tanh"


@pytest.mark.parametrize("text", [NEW, SHORT])
def test_an_instruction_found_alone_is_that_of_its_computation(text):
    body, same = (next(iter(parse_module_text(text).computations.values())) for _ in range(2))
    names = [*same.by_name, "gone"]
    found = [body.find(name) for name in names]
    assert found == [*body.instructions, None]
    assert found == [body.find(name) for name in names]


def test_the_short_form_of_names_and_headers_gives_the_same_program():
    program = parse_module_text(SHORT)
    assert program.instructions["x.1"].computation == "main"
    assert root_opcode(program, "fusion.2") == "add"
    assert program.instructions["fusion.2"].attributes.runs == "fused_computation"
    assert program.frames == {}


def test_windows_line_ends_and_a_byte_order_mark_change_nothing():
    def stated(text: str) -> object:
        program = parse_module_text(text)
        lines = [
            (each.name, each.shape, each.opcode, each.operands, each.attributes)
            for computation in program.computations.values()
            for each in computation.instructions
        ]
        return lines, program.frames, program.entry_name, program.partitions

    assert stated("\N{BYTE ORDER MARK}" + NEW.replace("\n", "\r\n")) == stated(NEW)


def test_frames_have_a_source_line_and_parents_are_printed_from_one():
    frames = parse_module_text(NEW).frames
    assert frames == {
        1: StackFrame("<module>", "/src/train.py", 50, 18, None),
        2: StackFrame("step.<locals>.<lambda>", "/src/café.py", 9, 0, 1),
    }


def test_the_source_line_is_that_of_the_instruction_or_of_its_innermost_frame():
    program = parse_module_text(NEW)
    in_frame = program.instructions["fusion"].attributes
    assert program.source_location(in_frame) == ("/src/café.py", 9)
    assert program.source_location(program.instructions["x"].attributes) == (None, None)
    own = Attributes(source_file="own.py", source_line=4, stack_frame=2)
    assert program.source_location(own) == ("own.py", 4)
    assert program.source_location(Attributes(source_line=4, stack_frame=99)) == (None, None)


def test_a_fusion_of_an_unknown_computation_has_no_root():
    text = "ENTRY main {\n  a = f32[] fusion(), calls=gone\n  b = f32[] fusion()\n}\n"
    program = parse_module_text(text)
    assert [root_opcode(program, name) for name in ("a", "b")] == [None, None]


LINES = """
  %p = f32[8]{0:T(8,128)} parameter(0)
  %k = (s32[], /*index=1*/f32[]) constant((1, 2))
  ROOT %c = f32[8]{0} call(%p, (s32[], f32[]) %k), to_apply=%f, metadata={op_name="a = b c(d"}
  %late = f32[] custom-call(), custom_call_target="x", k=1"""


def test_lines_with_parentheses_in_the_operands_are_read_like_other_lines():
    for lines in (LINES, LINES.replace("%", "")):
        made = PrintedComputation("main", lines)
        assert [each.name for each in made.instructions] == ["p", "k", "c", "late"]
        assert made["k"].shape == parse_shape("(s32[], /*index=1*/f32[])")
        assert [operand.name for operand in made["c"].operands] == ["p", "k"]
        assert made.opcodes == {"parameter", "constant", "call", "custom-call"}
        assert made.runs == {"f"}
        assert made.has_op_names
        assert made.root is made["c"]
        assert made.parameters == {0: made["p"]}
        readers = [list(made.readers(name)) for name in ("p", "k", "c", "f")]
        assert readers == [[made["c"]], [made["c"]], [], []]


def test_the_root_is_the_same_object_if_it_is_read_first_or_with_the_others():
    made = PrintedComputation("main", LINES)
    root = made.root
    assert made["c"] is root


def test_a_line_that_cannot_be_parsed_makes_the_readers_of_its_operands_an_error():
    made = PrintedComputation("odd", "\n  odd\n  a = f32[] negate(b)\n  c = odd(a, d)")
    assert [each.name for each in made.instructions] == ["a"]
    assert made.opcodes == {"negate", None}
    assert made.find_root() is None
    with pytest.raises(ProgramError, match="odd has no root"):
        _ = made.root
    assert [each.name for each in made.readers("b")] == ["a"]
    with pytest.raises(ProgramError, match="cannot be read"):
        made.readers("a")


def callers(*printed_parents):
    rows = [
        f"{number} {{file_location_id=1 parent_frame_id={parent}}}"
        for number, parent in enumerate(printed_parents, 1)
    ]
    frames = parse_module_text("\n".join(["StackFrames", *rows])).frames
    return {number: frame.caller for number, frame in frames.items()}


def test_a_cycle_of_frames_is_cut_once():
    assert callers(1, 4, 3) == {1: None, 2: 3, 3: None}
    assert callers(2) == {1: None}
    assert callers(1, 2, 5, 4) == {1: None, 2: 1, 3: 4, 4: None}
    assert callers(4, 1, 5, 4) == {1: 3, 2: None, 3: 4, 4: None}


def test_a_caller_that_is_not_in_the_table_is_none():
    assert callers(0, 99) == {1: None, 2: None}


def test_broken_tables_give_missing_facts_and_no_error():
    text = "StackFrames\n1 {file_location_id=5 parent_frame_id=1}\n2 what\n3 {}\nx y\n"
    nowhere = StackFrame(None, None, None, None, None)
    assert parse_module_text(text).frames == {1: nowhere, 2: nowhere, 3: nowhere}


def test_lines_that_do_not_match_are_skipped():
    text = "garbage\n  more = garbage\n  ROOT\n  ROOT x\n{\n}\n  \n%%% {\n"
    program = parse_module_text(text)
    assert (program.instructions, program.entry_name) == ({}, None)


def test_the_plan_completes_the_instructions_of_the_module_text_as_they_are_read():
    text = "HloModule f\n\nENTRY %main {\n  ROOT %a = f32[] add(%p, %p)\n}\n"
    stated = {"a": 'f32[] add(%p, %p), metadata={op_name="x"}', "b": "f32[] copy(%p)"}
    program = parse_module_text(text, stated)
    assert program.instructions["a"] is program.entry["a"]
    assert program.entry["a"].attributes.op_name == "x"
    assert program.instructions["b"].text == "f32[] copy(%p)"
    assert program.entry.find("b") is None


def test_the_opcodes_in_a_fusion_include_those_of_fusions_inside_of_it():
    text = (
        "inner {\n  p = f32[] parameter(0)\n  ROOT s = f32[] scatter(p)\n}\n"
        "outer {\n  q = f32[] parameter(0)\n  n = f32[] negate(q)\n"
        "  ROOT f = f32[] fusion(n), kind=kCustom, calls=inner\n}\n"
        "ENTRY main {\n  x = f32[] parameter(0)\n"
        "  ROOT a = f32[] fusion(x), kind=kCustom, calls=outer\n}\n"
    )
    program = parse_module_text(text)
    assert program.fused_opcodes(program.entry["a"]) == ("negate", "scatter")
