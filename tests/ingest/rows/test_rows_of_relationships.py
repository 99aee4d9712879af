"""A dump's relationships: the nodes that each type joins, and its properties."""

from tests.ingest.rows.small_dump import DUMP, MODULE_TEXT, STEM, edges, nodes, rows_of


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


def test_beside_what_a_caption_shows_in_bytes_stands_its_text(rows):
    assert nodes(rows, "Allocation", "sizeText")[:2] == [("16 B",), ("8 B",)]
    assert nodes(rows, "Value", "sizeText")[5] == ("48 B",)
    assert edges(rows, "LIVE_AT_PEAK", "physicalText")[0][2] == "16 B"
    assert edges(rows, "IN_PRINTED_PEAK", "printedText")[0][2] == "16 B"
    assert edges(rows, "UPDATES_IN_PLACE", "sharedText") == [("add", "p", "16 B")]
    assert edges(rows, "REUSES", "sharedText") == [("mul", "neg", "32 B")]
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


def test_a_value_leads_to_the_line_of_what_it_belongs_to(rows):
    found = edges(rows, "ATTRIBUTED_LINE")
    assert found[0] == ("add", "f.py:7")
    files = nodes(rows, "Value", "label", "attributedFile", "attributedLine")
    assert found == [(value, f"{file}:{line}") for value, file, line in files if file is not None]


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


def test_parameters_have_their_donation_and_sharding():
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
