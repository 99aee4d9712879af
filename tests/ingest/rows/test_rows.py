"""What a dump becomes in the graph: a small dump, and the rows that it gives."""

from pathlib import Path

import pytest

from xlagraph.graph import CompilationRows
from xlagraph.ingest import DumpFiles, DumpPart, parse_plan
from xlagraph.ingest.dump.module_text import parse_module_text
from xlagraph.ingest.files.file_names import dump_name
from xlagraph.ingest.measures.compilation_facts import instruction_names, join_facts
from xlagraph.ingest.rows.compilations import Identity, compilation_rows

STEM = "module_0007.jit_step.3.cpu_after_optimizations"

# A donated parameter is overwritten by `add`; `neg` and `mul` follow each other in one slot.
DUMP = """\
BufferAssignment:
allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}, maybe-live-out:
 value: <0 p @0> (size=16,offset=0): f32[4]{0}
 value: <1 add @0> (size=16,offset=0): f32[4]{0}
allocation 1: size 8, output shape is |(f32[4])|, maybe-live-out:
 value: <2 out{} @0> (size=8,offset=0): (f32[4]{0})
allocation 2: size 4, thread-local:
 value: <3 x (phi) @0> (size=4,offset=0): f32[]
allocation 3: size 64, color 1, page 0, preallocated-temp:
 value: <4 neg @1> (size=32,offset=32): bf16[8]{0:T(8)S(1)}
 value: <5 mul @1> (size=48,offset=16): bf16[8]{0:T(8)S(1)}

Total bytes used: 92 (92B)

Used values:
<0 p @0>
 positions:
  p
 uses:
  neg, operand 0
  add, operand 0
 from instruction: %p = f32[4]{0} parameter(0), metadata={op_name="params['w']"}
<1 add @0>
 positions:
  add
  out {0}
 uses:
 from instruction: %add = f32[4]{0} add(%p, %mul), metadata={op_name="jit(f)/a[b/c]/add" \
source_file="f.py" source_line=7}
<2 out{} @0>
 positions:
  out {}
 uses:
 from instruction: %out = (f32[4]{0}) tuple(%add)
<3 x (phi) @0>
 positions:
  x
 uses:
  inner, operand 1 {0,1}
 from instruction: %x = f32[] parameter(0)
<4 neg @1>
 positions:
  neg
 uses:
  mul, operand 0
 from instruction: %neg = bf16[8]{0:T(8)S(1)} fusion(%p), kind=kLoop, calls=%fused, \
metadata={op_name="jit(f)/neg" stack_frame_id=2}
<5 mul @1>
 positions:
  mul
 uses:
  add, operand 1
 from instruction: %mul = bf16[8]{0:T(8)S(1)} custom-call(%neg), custom_call_target="gemm"


HloLiveRange (max 5):
  InstructionSequence:
    0:p
    1:neg
    2:mul
    3:add
    4:out
  BufferLiveRange:
    p{}:0-3
    add{}:3-5
    out{}:4-5
    neg{}:1-1
    mul{}:2-3
  Live ranges at 3 (peak):
    mul{}: 16 bytes (cumulative: 16 bytes)
    p{}: 16 bytes (cumulative: 32 bytes)
    add{}: 15 bytes (cumulative: 47 bytes)
"""

MODULE_TEXT = """\
HloModule jit_step, is_scheduled=true

FileNames
1 "train.py"

FunctionNames
1 "main"
2 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=50 end_line=50 column=4 end_column=9}
2 {file_name_id=1 function_name_id=2 line=20 end_line=20 column=8 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

%fused (a: f32[4]) -> bf16[8] {
  %a = f32[4]{0} parameter(0)
  ROOT %pad = bf16[8]{0} pad(%a), padding=0_4
}

ENTRY %main (p: f32[4]) -> (f32[4]) {
  %p = f32[4]{0} parameter(0)
  %neg = bf16[8]{0:T(8)S(1)} fusion(%p), kind=kLoop, calls=%fused
  %mul = bf16[8]{0:T(8)S(1)} custom-call(%neg), metadata={op_name="jit(f)/mul" stack_frame_id=1}
  %add = f32[4]{0} add(%p, %mul)
  ROOT %out = (f32[4]{0}) tuple(%add)
}
"""


def rows_of(
    dump: str, module_text: str | None = None, *, stem: str = STEM, tags: tuple[str, ...] = ()
) -> CompilationRows:
    files = DumpFiles(
        run="base",
        run_path="/data/base",
        stem=stem,
        key=f"base/{stem}",
        other_key=None,
        name=dump_name(stem),
        allocations=Path("x.txt"),
        values=None,
        live_range=None,
        module_text=None,
        size_bytes=len(dump),
    )
    plan = parse_plan([DumpPart("x.txt", dump)])
    names = instruction_names(plan)
    parsed = parse_module_text(module_text, names) if module_text else None
    identity = Identity(files, "digest", "2026-11-21T07:00:00+00:00", tags)
    return compilation_rows([(identity, join_facts(plan, parsed, names))])


def nodes(rows: CompilationRows, label: str, *columns: str) -> list[tuple[object, ...]]:
    table = rows.nodes[label].select(list(columns))
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def pairs(rows: list[tuple[object, ...]]) -> list[tuple[object, object]]:
    return [(row[0], row[1]) for row in rows]


def edges(rows: CompilationRows, name: str, *columns: str) -> list[tuple[object, ...]]:
    """Give the ends by what a reader knows them by, then the properties."""
    from xlagraph.graph.schema import SCHEMA

    kind = SCHEMA.relationship(name)
    called = {"Value": "label", "Allocation": "number", "MemorySpace": "color"}
    names: list[dict[object, object]] = []
    for label in (kind.source, kind.target):
        shown = "key" if label in ("Compilation", "SourceLine", "Frame") else "name"
        names.append(dict(pairs(nodes(rows, label, "key", called.get(label, shown)))))
    table = rows.relationships[name]
    columns = ("source", "target", *columns)
    return [
        (names[0][source], names[1][target], *rest)
        for source, target, *rest in zip(
            *(table.column(column).to_pylist() for column in columns), strict=True
        )
    ]


@pytest.fixture(scope="module")
def rows() -> CompilationRows:
    return rows_of(DUMP, MODULE_TEXT, tags=("commit=abc",))


def test_the_run_has_its_folder_and_its_tags(rows):
    assert nodes(rows, "Run", "key", "name", "path", "tags") == [
        ("base", "base", "/data/base", ["commit=abc"])
    ]


def test_the_module_is_the_program_without_its_number(rows):
    assert nodes(rows, "Module", "key", "name") == [("jit_step", "jit_step")]
    assert edges(rows, "OF_MODULE") == [(f"base/{STEM}", "jit_step")]


def test_a_dump_without_a_name_has_no_module():
    rows = rows_of(DUMP, stem="module_0001.after_optimizations")
    assert rows.nodes["Module"].num_rows == rows.relationships["OF_MODULE"].num_rows == 0
    assert nodes(rows, "Compilation", "moduleId", "moduleName", "platform") == [(1, None, None)]


def test_the_compilation_has_its_sums_and_the_peaks_of_memory_space_0(rows):
    (compilation,) = rows.nodes["Compilation"].to_pylist()
    assert compilation == {
        "key": f"base/{STEM}",
        "run": "base",
        "name": "jit_step.3",
        "state": "complete",
        "moduleId": 7,
        "moduleName": "jit_step.3",
        "platform": "cpu",
        "valueCount": 6,
        "totalBytes": 92,
        "allocationBytes": 92,
        "scheduleLength": 5,
        "result": "out",
        "partitions": 1,
        "printedPeakStep": 3,
        "printedPeakBytes": 47,
        "reservedBytes": 24,
        "logicalPeakBytes": 32,
        "logicalPeakStep": 3,
        "physicalPeakBytes": 24,
        "physicalPeakStep": 4,
        "sha256": "digest",
        "ingestedAt": "2026-11-21T07:00:00+00:00",
    }
    assert edges(rows, "COMPILED") == [("base", f"base/{STEM}")]


def test_each_colour_is_a_memory_space_with_its_own_peaks(rows):
    columns = (
        *("color", "allocationBytes", "reservedBytes", "logicalPeakBytes", "logicalPeakStep"),
        *("physicalPeakBytes", "physicalPeakStep"),
    )
    assert nodes(rows, "MemorySpace", *columns) == [
        (0, 28, 24, 32, 3, 24, 4),
        (1, 64, 64, 48, 2, 48, 2),
    ]
    assert nodes(rows, "MemorySpace", "key")[1] == (f"base/{STEM}#m/1",)


def test_allocations_have_a_role_and_what_their_line_says(rows):
    columns = (
        *("number", "sizeBytes", "role", "memorySpace", "page", "parameterNumber", "shapeIndex"),
        *("shape", "isOutput", "maybeLiveOut"),
    )
    assert nodes(rows, "Allocation", *columns) == [
        (0, 16, "parameter", 0, None, 0, "{}", "f32[4]", False, True),
        (1, 8, "output", 0, None, None, None, "(f32[4])", True, True),
        (2, 4, "threadLocal", 0, None, None, None, None, False, False),
        (3, 64, "temp", 1, 0, None, None, None, False, False),
    ]
    assert nodes(
        rows, "Allocation", "physicalPeakBytes", "physicalPeakStep", "largestHoleBytes"
    ) == [
        (16, 0, 0),
        (8, 4, 0),
        (0, 0, 4),
        (48, 2, 16),
    ]


@pytest.mark.parametrize(
    ("line", "role"),
    [
        ("parameter 0, shape |s8[]| at ShapeIndex {}, output shape is |s8[]|", "parameter"),
        ("constant", "constant"),
        ("maybe-live-out", "liveOut"),
        ("constant, thread-local", "threadLocal"),
        ("preallocated-temp", "temp"),
    ],
)  # fmt: skip
def test_of_several_roles_the_first_holds(line, role):
    rows = rows_of(f"BufferAssignment:\nallocation 0: size 4, {line}:\n")
    assert nodes(rows, "Allocation", "role") == [(role,)]


def test_an_allocation_of_which_the_dump_says_nothing_has_no_role():
    rows = rows_of("BufferAssignment:\nallocation 0: size 4:\n")
    assert nodes(rows, "Allocation", "role", "isOutput") == [(None, False)]


def test_what_an_old_generation_never_prints_is_unknown_and_not_false():
    rows = rows_of(
        "BufferAssignment:\n"
        "allocation 0: 0x7f00, size 4, parameter 0 at ShapeIndex {}:\n"
        "  arg[](#1 @0) [0,4]: f32[]\n"
        "allocation 1: 0x7f10, size 4, maybe-live-out:\n"
        "  add.2[](#2 @0) [0,4]: f32[]\n"
    )
    assert nodes(rows, "Allocation", "isOutput", "maybeLiveOut", "shape", "physicalPeakBytes") == [
        (None, False, None, None),
        (None, True, None, None),
    ]
    (compilation,) = rows.nodes["Compilation"].to_pylist()
    assert compilation["reservedBytes"] == compilation["allocationBytes"] == 8
    unknown = (
        *("totalBytes", "scheduleLength", "printedPeakStep", "printedPeakBytes"),
        *("logicalPeakBytes", "logicalPeakStep", "physicalPeakBytes", "physicalPeakStep"),
    )
    assert {compilation[name] for name in unknown} == {None}
    assert nodes(rows, "Value", "label", "liveFrom", "lastUse", "aliasSet", "opcode") == [
        ("arg", None, None, 1, None),
        ("add.2", None, None, 2, None),
    ]


def test_values_have_slot_shape_range_and_what_defines_them(rows):
    columns = ("valueId", "label", "shapeIndex", "isPhi", "shape", "layout", "dtype")
    assert nodes(rows, "Value", *columns) == [
        (0, "p", None, False, "f32[4]", "{0}", "f32"),
        (1, "add", None, False, "f32[4]", "{0}", "f32"),
        (2, "out{}", "{}", False, "(f32[4])", "({0})", "tuple"),
        (3, "x", None, True, "f32[]", None, "f32"),
        (4, "neg", None, False, "bf16[8]", "{0:T(8)S(1)}", "bf16"),
        (5, "mul", None, False, "bf16[8]", "{0:T(8)S(1)}", "bf16"),
    ]
    columns = (
        "label",
        "sizeBytes",
        "denseBytes",
        "memorySpace",
        "liveFrom",
        "liveUntil",
        "lastUse",
    )
    assert nodes(rows, "Value", *columns) == [
        ("p", 16, 16, 0, 0, 3, 3),
        ("add", 16, 16, 0, 3, 5, None),
        ("out{}", 8, None, 0, 4, 5, None),
        ("x", 4, 4, 0, None, None, None),
        ("neg", 32, 16, 1, 1, 1, 2),
        ("mul", 48, 16, 1, 2, 3, 3),
    ]
    assert nodes(rows, "Value", "label", "allocation", "offsetBytes") == [
        ("p", 0, 0),
        ("add", 0, 0),
        ("out{}", 1, 0),
        ("x", 2, 0),
        ("neg", 3, 32),
        ("mul", 3, 16),
    ]
    assert nodes(rows, "Value", "opcode", "opName", "sourceFile", "sourceLine") == [
        ("parameter", "params['w']", None, None),
        ("add", "jit(f)/a[b/c]/add", "f.py", 7),
        ("tuple", None, None, None),
        ("parameter", None, None, None),
        ("fusion", "jit(f)/neg", "train.py", 20),
        ("custom-call", "jit(f)/mul", "train.py", 50),
    ]
    assert edges(rows, "HOLDS", "offsetBytes", "sizeBytes") == [
        (0, "p", 0, 16),
        (0, "add", 0, 16),
        (1, "out{}", 0, 8),
        (2, "x", 0, 4),
        (3, "neg", 32, 32),
        (3, "mul", 16, 48),
    ]


def test_every_instruction_that_the_dump_names_is_a_node_the_schedule_first(rows):
    columns = ("name", "opcode", "step", "computation", "target", "rootOpcode")
    assert nodes(rows, "Instruction", *columns) == [
        ("p", "parameter", 0, "main", None, None),
        ("neg", "fusion", 1, "main", None, "pad"),
        ("mul", "custom-call", 2, "main", "gemm", None),
        ("add", "add", 3, "main", None, None),
        ("out", "tuple", 4, "main", None, None),
        ("x", "parameter", None, None, None, None),
        ("inner", None, None, None, None, None),
    ]
    assert nodes(rows, "Instruction", "logicalBytes", "physicalBytes") == [
        *[(16, 16)] * 3,
        (32, 16),
        (24, 24),
        (None, None),
        (None, None),
    ]
    assert nodes(rows, "Instruction", "shape", "text")[4] == (
        "(f32[4]{0})",
        "%out = (f32[4]{0}) tuple(%add)",
    )


def test_what_planning_anew_needs_of_the_module_text_is_kept(rows):
    assert nodes(rows, "Value", "label", "bufferSet", "neededUntil") == [
        ("p", 0, 3),
        ("add", 1, None),
        ("out{}", 2, None),
        ("x", 3, None),
        ("neg", 4, None),
        ("mul", 5, None),
    ]
    assert edges(rows, "MAY_OVERWRITE", "operand", "isOperand") == [("add", "p", 0, True)]
    assert nodes(rows, "Instruction", "name", "postOrder")[:5] == [
        ("p", 0),
        ("neg", 1),
        ("mul", 2),
        ("add", 3),
        ("out", 4),
    ]


def test_without_a_module_text_nothing_is_known_for_planning_anew():
    rows = rows_of(DUMP)
    assert set(nodes(rows, "Value", "bufferSet", "neededUntil")) == {(None, None)}
    assert edges(rows, "MAY_OVERWRITE", "operand", "isOperand") == []


@pytest.mark.parametrize(
    "cut",
    ["ENTRY %main", "  ROOT %out", "%fused (a", "calls=%fused"],
)
def test_a_module_text_that_is_cut_spoils_nothing_else(cut):
    rows = rows_of(DUMP, MODULE_TEXT[: MODULE_TEXT.index(cut)])
    assert len(nodes(rows, "Value", "label")) == 6


def test_uses_and_positions_are_relationships(rows):
    assert edges(rows, "USED_BY", "operand", "operandIndex") == [
        ("p", "neg", 0, None),
        ("p", "add", 0, None),
        ("x", "inner", 1, "{0,1}"),
        ("neg", "mul", 0, None),
        ("mul", "add", 1, None),
    ]
    assert edges(rows, "APPEARS_AT", "shapeIndex") == [
        ("p", "p", None),
        ("add", "add", None),
        ("add", "out", "{0}"),
        ("out{}", "out", "{}"),
        ("x", "x", None),
        ("neg", "neg", None),
        ("mul", "mul", None),
    ]
    assert edges(rows, "DEFINES")[2] == ("out", "out{}")


def test_live_ranges_end_at_instructions_but_for_those_past_the_last_one(rows):
    assert edges(rows, "LIVE_FROM", "step") == [
        ("p", "p", 0),
        ("add", "add", 3),
        ("out{}", "out", 4),
        ("neg", "neg", 1),
        ("mul", "mul", 2),
    ]
    assert edges(rows, "LIVE_UNTIL", "step") == [
        ("p", "add", 3),
        ("neg", "neg", 1),
        ("mul", "add", 3),
    ]


def test_the_schedule_is_kept_with_its_order(rows):
    key = f"base/{STEM}"
    assert edges(rows, "SCHEDULES", "step") == [
        (key, name, step) for step, name in enumerate(["p", "neg", "mul", "add", "out"])
    ]
    assert edges(rows, "NEXT") == [("p", "neg"), ("neg", "mul"), ("mul", "add"), ("add", "out")]


def test_shares_of_the_physical_peak_join_values_and_memory_spaces(rows):
    assert sorted(edges(rows, "LIVE_AT_PEAK", "physicalBytes")) == [
        ("add", 0, 16),
        ("mul", 1, 48),
        ("out{}", 0, 8),
    ]


def test_the_printed_peak_is_kept_in_its_order(rows):
    key = f"base/{STEM}"
    assert edges(rows, "IN_PRINTED_PEAK", "printedBytes", "rank", "ambiguous") == [
        ("mul", key, 16, 0, False),
        ("p", key, 16, 1, False),
        ("add", key, 15, 2, False),
    ]


def test_slot_succession_is_told_in_place_or_after_a_gap(rows):
    assert edges(rows, "UPDATES_IN_PLACE", "sharedBytes", "step") == [("add", "p", 16, 3)]
    assert edges(rows, "REUSES", "sharedBytes", "gapSteps") == [("mul", "neg", 32, 1)]
    assert nodes(rows, "Value", "label", "aliasSet", "aliasPosition")[:3] == [
        ("p", 0, 0),
        ("add", 0, 1),
        ("out{}", 2, 0),
    ]


def test_op_names_lie_in_scopes_that_end_outside_brackets(rows):
    assert nodes(rows, "Op", "key", "name") == [
        (name, name) for name in ("params['w']", "jit(f)/neg", "jit(f)/mul", "jit(f)/a[b/c]/add")
    ]
    assert nodes(rows, "Scope", "name", "depth") == [
        ("params['w']", 1),
        ("jit(f)", 1),
        ("jit(f)/neg", 2),
        ("jit(f)/mul", 2),
        ("jit(f)/a[b/c]", 2),
        ("jit(f)/a[b/c]/add", 3),
    ]
    assert edges(rows, "WITHIN")[-3:] == [
        ("jit(f)/a[b/c]/add", scope) for scope in ("jit(f)", "jit(f)/a[b/c]", "jit(f)/a[b/c]/add")
    ]
    assert edges(rows, "FROM_OP") == [
        ("p", "params['w']"),
        ("neg", "jit(f)/neg"),
        ("mul", "jit(f)/mul"),
        ("add", "jit(f)/a[b/c]/add"),
    ]


def test_source_lines_are_those_printed_or_of_the_innermost_frame(rows):
    assert edges(rows, "FROM_LINE") == [
        ("neg", "train.py:20"),
        ("mul", "train.py:50"),
        ("add", "f.py:7"),
    ]
    assert nodes(rows, "SourceLine", "file", "line")[0] == ("train.py", 20)


def test_frames_are_call_paths(rows):
    columns = ("function", "file", "line", "sourceColumn")
    assert nodes(rows, "Frame", *columns) == [
        ("main", "train.py", 50, 4),
        ("step", "train.py", 20, 8),
    ]
    (outer,), (inner,) = nodes(rows, "Frame", "key")
    assert edges(rows, "CALLED_FROM") == [(inner, outer)]
    assert edges(rows, "IN_FRAME") == [("neg", inner), ("mul", outer)]


def test_a_frame_with_another_caller_is_another_call_path():
    other = MODULE_TEXT.replace("function_name_id=1 line=50", "function_name_id=1 line=51")
    frames = [nodes(rows_of(DUMP, text), "Frame", "key") for text in (MODULE_TEXT, other)]
    assert not set(frames[0]) & set(frames[1])
    assert frames[0] == nodes(rows_of(DUMP, MODULE_TEXT), "Frame", "key")


def test_a_list_of_the_peak_without_indexes_names_live_elements_in_order():
    rows = rows_of(
        "BufferAssignment:\n"
        "allocation 0: size 12, preallocated-temp:\n"
        " value: <1 a @0> (size=4,offset=0): f32[]\n"
        " value: <4 w{1} @0> (size=4,offset=4): f32[]\n"
        " value: <3 w{0} @0> (size=4,offset=4): f32[]\n"
        " value: <5 w{2} @0> (size=4,offset=8): f32[]\n"
        "\nTotal bytes used: 12\n\nUsed values:\n"
        + "".join(
            f"<{label} @0>\n positions:\n  a\n uses:\n"
            for label in ("1 a", "3 w{0}", "4 w{1}", "5 w{2}")
        )
        + "\n\nHloLiveRange (max 2):\n  InstructionSequence:\n    0:a\n    1:w\n"
        "  BufferLiveRange:\n    a{}:0-2\n    w{0}:0-0\n    w{1}:1-2\n    w{2}:1-1\n"
        "  Live ranges at 1 (peak):\n    w: 12 bytes\n    a: 4 bytes\n    w: 12 bytes\n"
    )
    key = f"base/{STEM}"
    assert edges(rows, "IN_PRINTED_PEAK", "printedBytes", "rank", "ambiguous") == [
        ("w{1}", key, 12, 0, True),
        ("a", key, 4, 1, False),
        ("w{2}", key, 12, 2, True),
    ]


def test_values_belong_to_ops_also_of_other_instructions():
    rows = rows_of(DUMP, MODULE_TEXT)
    columns = "label attribution attributedOpName attributedLine userFile userLine userFunction"
    assert nodes(rows, "Value", *columns.split()) == [
        ("p", "own", "params['w']", None, None, None, None),
        ("add", "own", "jit(f)/a[b/c]/add", 7, "f.py", 7, None),
        ("out{}", "operand", "jit(f)/a[b/c]/add", 7, "f.py", 7, None),
        ("x", None, None, None, None, None, None),
        ("neg", "own", "jit(f)/neg", 20, "train.py", 20, "step"),
        ("mul", "own", "jit(f)/mul", 50, "train.py", 50, "main"),
    ]


def test_a_frame_sorts_after_its_caller_and_by_line():
    rows = rows_of(DUMP, MODULE_TEXT)
    frames = nodes(rows, "Frame", "function", "depth", "treeOrder")
    (main, main_depth, main_order), (step, step_depth, step_order) = frames
    assert (main, main_depth, step, step_depth) == ("main", 1, "step", 2)
    assert str(step_order).startswith(f"{main_order}/0000020")


def test_what_the_caller_gives_up_and_how_it_is_split_is_known_of_parameters():
    module = MODULE_TEXT.replace(
        "is_scheduled=true", "is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }"
    ).replace("parameter(0)\n  %neg", "parameter(0), sharding={replicated}\n  %neg")
    rows = rows_of(DUMP, module)
    assert nodes(rows, "Allocation", "donation", "donatedTo")[:2] == [
        ("paired", "{0}"),
        (None, None),
    ]
    assert nodes(rows, "Instruction", "name", "sharding")[0] == ("p", "{replicated}")
    donors = rows_of(
        DUMP, MODULE_TEXT.replace("scheduled=true", "scheduled=true, buffer_donor={ (0, {}) }")
    )
    assert nodes(donors, "Allocation", "donation", "donatedTo")[0] == ("unpaired", None)
