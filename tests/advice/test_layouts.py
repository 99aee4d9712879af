"""`advise` names inputs that the program stores again in another layout."""

import pytest

from tests.advice.small_compilations import share_one_buffer_set, with_values
from xlagraph.advice.causes.layouts import copies_in_other_layouts
from xlagraph.planner.edits.edit import replan
from xlagraph.planner.edits.layout_edit import PassInLayout


def cache(programs, *, copied="transpose(cache)", copy="f32[64,32]{1,0}", donated="", read="token"):
    """An input and its copy, which shares its bytes with the new state of a loop."""
    program = programs(
        f"""
        0 | 8192 | parameter 0, shape |f32[32,64]| at ShapeIndex {{}}{donated}
        1 | 256 | parameter 1, shape |f32[64]| at ShapeIndex {{}}
        2 | 8448 | preallocated-temp
        """,
        f"""
        0 | cache | f32[32,64]{{1,0}} | 0    | 8192 | 0-5 | parameter(0)
        1 | token | f32[64]{{0}}      | 0    | 256  | 0-5 | parameter(1)
        2 | rounded | bf16[32,64]{{1,0}} | 4096 | 4096 | 0-1 | convert(cache)
        2 | copy  | {copy}            | 0    | 8192 | 1-3 | {copied}
        2 | new   | f32[64,32]{{1,0}} | 0    | 8192 | 3-4 | fusion(copy) | jit(f)/update @ f.py:7
        2 | out   | f32[64]{{0}}      | 8192 | 256  | 4-5 | add({read}, new)
        """,
    )
    ids = {label: value.value_id for label, value in program.by_label.items()}
    with_values(
        program,
        [
            value._replace(buffer_set=ids["copy"]) if value.value_id == ids["new"] else value
            for value in program.program.values
        ],
    )
    return program


DONATED = ", maybe-live-out"


@pytest.mark.parametrize(
    ("copied", "copy"),
    [("transpose(cache)", "f32[64,32]{1,0}"), ("copy(cache)", "f32[32,64]{0,1}")],
)
def test_a_donated_input_is_kept_once_in_the_layout_that_a_loop_writes(programs, copied, copy):
    program = cache(programs, copied=copied, copy=copy, donated=DONATED)
    (cause,) = copies_in_other_layouts(program)
    (row,) = cause.rows
    assert (row["value"], row["userFile"], row["userLine"]) == ("copy", "f.py", 7)
    assert row["reason"] == f"cache: passed as f32[32,64]{{1,0}}, stored again as {copy}"
    assert cause.edit is not None
    assert replan(program.compilation, [cause.edit]).saved_bytes() == 8192


@pytest.mark.parametrize(
    "changed",
    [
        {"donated": ""},  # the loop would write into the caller's array
        {"copied": "copy(cache)", "copy": "f32[32,64]{1,0}"},
        {"copied": "exponential(cache)"},
        {"copied": "transpose(rounded)"},  # the rounded elements would be stored in any layout
        {"read": "cache"},  # it would need a copy in its own layout
    ],
)
def test_other_copies_are_not_of_another_layout(programs, changed):
    assert list(copies_in_other_layouts(cache(programs, **{"donated": DONATED} | changed))) == []


def test_an_input_whose_copy_is_in_another_memory_space_takes_the_bytes_of_its_new_layout(programs):
    compilation = cache(programs, donated=DONATED).compilation
    given = compilation.array_parameters[0].value_id
    assert replan(compilation, [PassInLayout({}, {given: 8192 + 4096})]).saved_bytes() == -4096


@pytest.mark.parametrize(("opcode", "is_named"), [("bitcast", True), ("fusion", False)])
def test_the_state_of_a_loop_is_an_input_only_if_no_iteration_changes_it(
    programs, opcode, is_named
):
    program = programs(
        """
        0 | 8192 | parameter 0, shape |f32[32,64]| at ShapeIndex {}
        2 | 16640 | preallocated-temp
        """,
        f"""
        0 | cache | f32[32,64]{{1,0}} | 0     | 8192 | 0-6 | parameter(0)
        2 | first | f32[32,64]{{1,0}} | 0     | 8192 | 1-2 | copy(cache)
        2 | w{{0}} (phi) | f32[32,64]{{1,0}} | 0 | 8192 | 2-3 | while(first)
        2 | next  | f32[32,64]{{1,0}} | 0     | 8192 | 3-6 | {opcode}(w{{0}})
        2 | copy  | f32[32,64]{{0,1}} | 8192  | 8192 | 3-5 | copy(w{{0}})
        2 | out   | f32[64]{{0}}      | 16384 | 256  | 5-6 | add(copy)
        """,
    )
    share_one_buffer_set(program, "first", "w{0}", "next")
    rows = [row["value"] for cause in copies_in_other_layouts(program) for row in cause.rows]
    assert rows == (["copy"] if is_named else [])


@pytest.mark.parametrize(
    ("op", "fused", "is_copy"),
    [
        ("jit(f)/while", ("transpose",), True),
        pytest.param("jit(f)/transpose", ("transpose",), False, id="the program transposes it"),
        pytest.param("jit(f)/while", ("multiply", "transpose"), False, id="computed"),
    ],
)
def test_a_gpu_changes_the_layout_of_what_a_loop_reads_in_a_fusion(programs, op, fused, is_copy):
    program = programs(
        "0 | 4096 | parameter 0, shape |f32[64,16]| at ShapeIndex {}\n1 | 8192 | preallocated-temp",
        f"""
        0 | x    | f32[64,16] | 0    | 4096 | 0-2 | parameter(0)
        1 | read | f32[16,64] | 0    | 4096 | 1-3 | fusion(x) | {op}
        1 | last | f32[16,64] | 4096 | 4096 | 2-3 | negate(read)
        """,
    )
    program.instructions["read"] = program.instructions["read"]._replace(fused_opcodes=fused)
    assert program.is_copy_of_input("read") == is_copy
