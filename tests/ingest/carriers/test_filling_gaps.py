"""If text and protobuf contain one compilation, the protobuf adds the missing facts."""

from pathlib import Path

import pytest

from tests.ingest.carriers.proto.small_protos import hlo
from xlagraph.hlo.metadata import StackFrame
from xlagraph.hlo.program import Program
from xlagraph.ingest.files.contents import DumpContents, read_compilation, read_dump
from xlagraph.ingest.files.discovery import find_dumps
from xlagraph.ingest.plan import Plan

STAGE = "module_0008.jit_f.cpu_after_optimizations"
ALLOCATIONS = (
    "BufferAssignment:\n"
    "allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}:\n"
    " value: <1 p @0> (size=16,offset=0): f32[4]{0}\n"
    "allocation 1: size 16, output shape is |f32[4]|, maybe-live-out:\n"
    " value: <2 a @0> (size=16,offset=0): f32[4]{0}\n"
)
USED = (
    "\nTotal bytes used: 32 (32B)\n\nUsed values:\n"
    "<1 p @0>\n positions:\n  p\n uses:\n  a, operand 0\n"
    " from instruction: %p = f32[4]{0} parameter(0)\n"
    "<2 a @0>\n positions:\n  a\n uses:\n"
    ' from instruction: %a = f32[4]{0} negate(%p), metadata={op_name="jit(f)/neg"}\n'
)
RANGES = (
    "\n\nHloLiveRange (max 2):\n  InstructionSequence:\n    0:p\n    1:a\n"
    "  BufferLiveRange:\n    p{}:0-2\n    a{}:1-2\n"
    "  Live ranges at 1 (peak):\n    p: 16 bytes\n    a: 16 bytes\n"
)
MODULE = (
    "HloModule jit_f, is_scheduled=true\n\n"
    "ENTRY %main (p: f32[4]) -> f32[4] {\n  %p = f32[4]{0} parameter(0)\n"
    "  ROOT %a = f32[4]{0} negate(%p)\n}\n"
)
PROGRAM = "main:\n  p = f32[4] parameter(0) <1>\n  ROOT a = f32[4] negate(p) <2>\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    message = hlo(PROGRAM)
    index = message.hlo_module.stack_frame_index
    index.file_names.append("f.py")
    index.file_locations.add(file_name_id=1, line=3)
    index.stack_frames.add(file_location_id=1)
    message.hlo_module.computations[0].instructions[1].metadata.stack_frame_id = 1
    (tmp_path / f"{STAGE}.hlo.pb").write_bytes(message.SerializeToString())
    return tmp_path


def read(run: Path, text: str, module: str = "") -> tuple[Plan, Program, DumpContents]:
    (run / f"{STAGE}-buffer-assignment.txt").write_text(text)
    if module:
        (run / f"{STAGE}.txt").write_text(module)
    (dump,) = find_dumps(run).dumps
    contents = read_dump(dump)
    return *read_compilation(contents), contents


def test_call_stacks_are_taken_from_the_protobuf(run: Path):
    plan, program, contents = read(run, ALLOCATIONS + USED + RANGES, MODULE)
    assert program.frames == {1: StackFrame(None, "f.py", 3, 0, None)}
    assert program.instructions["a"].attributes.stack_frame == 1
    assert program.instructions["a"].attributes.op_name == "jit(f)/neg"
    assert program.instructions["a"].text is not None
    assert plan.derived == ()
    assert contents.problems == []


def test_facts_missing_from_the_text_are_marked_as_derived(run: Path):
    plan, program, _ = read(run, ALLOCATIONS + USED, MODULE)
    assert plan.derived == ("schedule", "ranges", "peak")
    assert plan.live_ranges is not None
    assert plan.live_ranges.schedule == ("p", "a")
    plan, program, _ = read(run, ALLOCATIONS)
    assert plan.derived == ("total", "positions", "uses", "schedule", "ranges", "peak")
    assert program.entry.name == "main"


def test_without_module_text_the_whole_program_is_from_the_protobuf(run: Path):
    _, program, _ = read(run, ALLOCATIONS + USED + RANGES)
    assert program.entry.root.name == "a"
    text = program.instructions["a"].text
    assert text is not None
    assert text.startswith("f32[4]{0} negate(%p)")


def test_a_protobuf_of_another_plan_is_not_read(run: Path):
    other = ALLOCATIONS.replace("<2 a @0> (size=16", "<2 a @0> (size=8")
    plan, _, contents = read(run, other)
    assert plan.live_ranges is None
    assert "has another plan than the text of the same name, and is skipped" in [
        problem.message for problem in contents.problems
    ]


def test_the_text_is_read_if_the_protobuf_is_damaged(run: Path):
    path = run / f"{STAGE}.hlo.pb"
    path.write_bytes(path.read_bytes()[:-3])
    plan, _, contents = read(run, ALLOCATIONS + USED + RANGES, MODULE)
    assert plan.live_ranges is not None
    (problem,) = contents.problems
    assert not problem.left_out
    assert problem.message.startswith("expected a whole HloProto")


def test_the_protobuf_is_not_read_if_the_text_is_complete(run: Path):
    (run / f"{STAGE}.hlo.pb").write_bytes(b"\x0a\x09")
    tables = (
        'FileNames\n1 "f.py"\n\nFunctionNames\n1 "f"\n\nFileLocations\n'
        "1 {file_name_id=1 function_name_id=1 line=3}\n\n"
        "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n"
    )
    module = MODULE.replace("\n\n", f"\n\n{tables}", 1)
    _, program, contents = read(run, ALLOCATIONS + USED + RANGES, module)
    assert len(program.frames) == 1
    assert contents.problems == []
