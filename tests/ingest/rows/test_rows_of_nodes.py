"""A dump's nodes, label by label."""

import pytest

from tests.ingest.rows.small_dump import DUMP, MODULE_TEXT, STEM, edges, nodes, rows_of


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
    assert nodes(rows, "Compilation", "moduleId", "moduleName", "platform") == [(1, None, "tpu")]


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
        "printsStackTrace": False,
        "printedPeakBytes": 47,
        "reservedBytes": 24,
        "reservedText": "24 B",
        "logicalPeakBytes": 32,
        "logicalPeakStep": 3,
        "physicalPeakBytes": 24,
        "physicalPeakText": "24 B",
        "physicalPeakStep": 4,
        "carrier": "text",
        "derived": [],
        "heapTraceAgrees": None,
        "sha256": "digest",
        "path": "/data/base",
        "ingestedAt": "2026-11-21T07:00:00+00:00",
        "detail": "all",
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


def test_allocations_have_a_role_and_the_facts_of_their_line(rows):
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


def test_the_allocation_of_a_donated_input_tells_what_happened_to_its_bytes(rows):
    columns = ("donatedValue", "donationOutcome", "donationReason", "nextValue", "donationCopy")
    assert nodes(rows, "Allocation", *columns)[:2] == [
        (0, "in place", None, "add", None),
        (None, None, None, None, None),
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
def test_of_several_roles_the_first_applies(line, role):
    rows = rows_of(f"BufferAssignment:\nallocation 0: size 4, {line}:\n")
    assert nodes(rows, "Allocation", "role") == [(role,)]


def test_an_allocation_without_attributes_has_no_role():
    rows = rows_of("BufferAssignment:\nallocation 0: size 4:\n")
    assert nodes(rows, "Allocation", "role", "isOutput") == [(None, False)]


def test_facts_that_an_old_generation_never_prints_are_unknown_and_not_false():
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


def test_values_have_slot_shape_range_and_definition(rows):
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
    assert nodes(rows, "Instruction", "name", "fusedOpcodes")[:2] == [
        ("p", None),
        ("neg", ["pad"]),
    ]
    assert nodes(rows, "Instruction", "shape", "text")[4] == (
        "(f32[4]{0})",
        "%out = (f32[4]{0}) tuple(%add)",
    )


def test_facts_of_the_module_text_that_replanning_needs_are_stored(rows):
    assert nodes(rows, "Value", "label", "bufferSet", "neededUntil") == [
        ("p", 0, 3),
        ("add", 1, None),
        ("out{}", 2, None),
        ("x", 3, None),
        ("neg", 4, None),
        ("mul", 5, None),
    ]
    assert edges(rows, "MAY_OVERWRITE", "operand", "isOperand", "isLastPosition") == [
        ("add", "p", 0, True, True)
    ]
    assert nodes(rows, "Instruction", "name", "postOrder")[:5] == [
        ("p", 0),
        ("neg", 1),
        ("mul", 2),
        ("add", 3),
        ("out", 4),
    ]


def test_the_last_instruction_that_shows_a_value_need_not_be_the_overwritten_operand():
    dump = DUMP.replace("  p\n uses:\n  neg,", "  p\n  view\n uses:\n  neg,")
    before_schedule = dump[: dump.index("    0:p")].replace("(max 5)", "(max 6)")
    schedule = """\
    0:p
    1:view
    2:neg
    3:mul
    4:add
    5:out
  BufferLiveRange:
    p{}:0-4
    add{}:4-6
    out{}:5-6
    neg{}:2-2
    mul{}:3-4
  Live ranges at 4 (peak):
    mul{}: 16 bytes (cumulative: 16 bytes)
    p{}: 16 bytes (cumulative: 32 bytes)
    add{}: 15 bytes (cumulative: 47 bytes)
"""
    module_text = MODULE_TEXT.replace(
        "  %neg = bf16[8]{0:T(8)S(1)} fusion(%p)",
        "  %view = f32[2,2]{1,0} bitcast(%p)\n  %neg = bf16[8]{0:T(8)S(1)} fusion(%view)",
    )
    rows = rows_of(before_schedule + schedule, module_text)
    assert edges(rows, "MAY_OVERWRITE", "operand", "isOperand", "isLastPosition") == [
        ("add", "p", 0, True, False)
    ]


def test_without_a_module_text_the_facts_for_replanning_are_unknown():
    rows = rows_of(DUMP)
    assert set(nodes(rows, "Value", "bufferSet", "neededUntil")) == {(None, None)}
    assert edges(rows, "MAY_OVERWRITE", "operand", "isOperand") == []


@pytest.mark.parametrize(
    "cut",
    ["ENTRY %main", "  ROOT %out", "%fused (a", "calls=%fused"],
)
def test_a_truncated_module_text_affects_nothing_else(cut):
    rows = rows_of(DUMP, MODULE_TEXT[: MODULE_TEXT.index(cut)])
    assert len(nodes(rows, "Value", "label")) == 6


def test_values_can_belong_to_ops_of_other_instructions():
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


def test_what_an_instruction_depends_on_is_stored(rows):
    assert nodes(rows, "Instruction", "name", "operands", "isRoot") == [
        ("p", None, False),
        ("neg", ["p"], False),
        ("mul", ["neg"], False),
        ("add", ["p", "mul"], False),
        ("out", ["add"], True),
        ("x", None, None),
        ("inner", None, None),
    ]
