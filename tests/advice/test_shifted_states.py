"""`advise` names states all of whose rows are moved, because a few new ones come in."""

import pytest

from tests.advice.small_compilations import share_one_buffer_set, with_dependences, with_overwrites
from xlagraph.advice.causes.shifted_states import shifted_states
from xlagraph.planner.dimensions.stored_operations import operations_of_text

ALLOCATIONS = """
    0 | 4096 | parameter 0, shape |f32[64,16]| at ShapeIndex {}, maybe-live-out
    1 | 64   | parameter 1, shape |f32[1,16]| at ShapeIndex {}
    2 | 8256 | preallocated-temp
"""
JOINED = "ROOT joined = f32[64,16]{1,0} concatenate(PARTS), dimensions={0}"
MODULE = """HloModule m

fused {
  p0 = f32[64,16]{1,0} parameter(0)
  p1 = f32[1,16]{1,0} parameter(1)
  zero = f32[] constant(0)
  zeros = f32[1,16]{1,0} broadcast(zero), dimensions={}
  most = f32[63,16]{1,0} slice(p0), slice={[1:64], [0:16]}
  half = f32[32,16]{1,0} slice(p0), slice={[32:64], [0:16]}
  first = f32[1,16]{1,0} slice(p0), slice={[0:1], [0:16]}
  ROOT joined = f32[64,16]{1,0} concatenate(PARTS), dimensions={0}
}

ENTRY e {
  old = f32[64,16]{1,0} parameter(0)
  row = f32[1,16]{1,0} parameter(1)
  moved = f32[64,16]{1,0} fusion(old, row), kind=kLoop, calls=fused
  other = f32[64]{0} reduce(old)
  ROOT next = f32[64,16]{1,0} copy(moved)
}
"""


def states(programs, parts, *, last="copy(moved)", reader="moved", joined=None):
    program = programs(
        ALLOCATIONS,
        f"""
        0 | old   | f32[64,16] | 0    | 4096 | 0-2 | parameter(0) | cache
        1 | row   | f32[1,16]  | 0    | 64   | 0-4 | parameter(1) | row
        2 | moved | f32[64,16] | 0    | 4096 | 1-3 | concatenate(old, row) | jit(f)/cat @ f.py:9
        2 | other | f32[64]    | 8192 | 64   | 2-4 | reduce({reader})
        0 | next  | f32[64,16] | 0    | 4096 | 3-4 | {last}
        """,
    )
    share_one_buffer_set(program, "old", "next")
    module = MODULE if joined is None else MODULE.replace(JOINED, joined)
    program.stored.operations = operations_of_text(module.replace("PARTS", parts))
    return [
        (row["value"], row["reason"]) for cause in shifted_states(program) for row in cause.rows
    ]


@pytest.mark.parametrize("parts", ["most, p1", "p1, most"])
def test_a_row_that_comes_in_moves_all_others(programs, parts):
    reason = "f.py:9 moves nearly all rows of cache"
    assert states(programs, parts) == [("moved", reason)]


@pytest.mark.parametrize(
    ("parts", "taken"), [("p1, p0", "0:64"), ("p0, p1", "1:65")], ids=["first", "last"]
)
def test_rows_may_be_dropped_after_others_are_joined(programs, parts, taken):
    joined = f"""longer = f32[65,16]{{1,0}} concatenate({parts}), dimensions={{0}}
  ROOT joined = f32[64,16]{{1,0}} slice(longer), slice={{[{taken}], [0:16]}}"""
    assert states(programs, parts, joined=joined) == [
        ("moved", "f.py:9 moves nearly all rows of cache")
    ]


def test_a_reader_that_the_new_rows_depend_on_runs_before_any_write(programs):
    program = programs(
        ALLOCATIONS,
        """
        0 | old   | f32[64,16] | 0    | 4096 | 0-3 | parameter(0) | cache
        2 | drawn | f32[1,16]  | 8192 | 64   | 1-3 | dynamic-slice(old)
        2 | moved | f32[64,16] | 0    | 4096 | 2-4 | concatenate(old, drawn) | jit(f)/cat @ f.py:9
        0 | next  | f32[64,16] | 0    | 4096 | 3-4 | copy(moved)
        """,
    )
    share_one_buffer_set(program, "old", "next")
    program.stored.operations = operations_of_text(MODULE.replace("PARTS", "most, p1"))
    with_dependences(
        program,
        "old = parameter()",
        "drawn = dynamic-slice(old)",
        "moved = fusion(old, drawn)",
        "next = copy(moved)",
    )
    (cause,) = shifted_states(program)
    assert cause.labels == {"moved"}


@pytest.mark.parametrize(
    ("parts", "changed"),
    [
        pytest.param("most, first", {}, id="the rows only turn around"),
        pytest.param("most, zeros", {}, id="nothing new comes in"),
        pytest.param("half, half", {}, id="most rows are new"),
        pytest.param("most, p1", {"reader": "old"}, id="another reads the old rows"),
        pytest.param("most, p1", {"last": "add(row)"}, id="no state of the program"),
    ],
)
def test_other_joined_arrays_are_no_such_states(programs, parts, changed):
    assert states(programs, parts, **changed) == []


def test_a_row_that_is_written_after_the_others_turned_around_moves_them_too(programs):
    program = programs(
        ALLOCATIONS,
        """
        0 | old   | f32[64,16] | 0 | 4096 | 0-2 | parameter(0) | cache
        1 | row   | f32[1,16]  | 0 | 64   | 0-5 | parameter(1) | row
        2 | moved | f32[64,16] | 0 | 4096 | 1-2 | concatenate(old) | jit(f)/roll @ f.py:9
        2 | set   | f32[64,16] | 0 | 4096 | 2-4 | dynamic-update-slice(moved, row)
        0 | next  | f32[64,16] | 0 | 4096 | 4-5 | copy(set)
        """,
    )
    share_one_buffer_set(program, "old", "next")
    program.stored.operations = operations_of_text(MODULE.replace("PARTS", "most, first"))
    with_overwrites(program, ("set", "moved"))
    (cause,) = shifted_states(program)
    assert {row["value"] for row in cause.rows} == {"moved", "set"}


def test_an_array_that_is_returned_next_to_its_input_is_such_a_state(returning):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[64,16]| at ShapeIndex {}
        1 | 64   | parameter 1, shape |f32[1,16]| at ShapeIndex {}
        2 | 4096 | maybe-live-out
        """,
        """
        0 | old   | f32[64,16] | 0 | 4096 | 0-2 | parameter(0) | cache
        1 | row   | f32[1,16]  | 0 | 64   | 0-2 | parameter(1) | row
        2 | moved | f32[64,16] | 0 | 4096 | 1-2 | concatenate(old, row) | jit(f)/cat @ f.py:9
        """,
        "moved",
    )
    program.stored.operations = operations_of_text(MODULE.replace("PARTS", "most, p1"))
    (cause,) = shifted_states(program)
    assert cause.labels == {"moved"}


PADDED = """HloModule m

fused {
  p0 = f32[63,16]{1,0} parameter(0)
  p1 = f32[1,16]{1,0} parameter(1)
  least = f32[] constant(-inf)
  zeros = f32[1,16]{1,0} broadcast(least), dimensions={}
  most = f32[64,16]{1,0} pad(p0, least), padding=PLACEx0_0
  new = f32[64,16]{1,0} pad(OTHER, least), padding=63_0x0_0
  ROOT joined = f32[64,16]{1,0} maximum(most, new)
}

ENTRY e {
  old = f32[64,16]{1,0} parameter(0)
  row = f32[1,16]{1,0} parameter(1)
  rest = f32[63,16]{1,0} slice(old), slice={[1:64], [0:16]}
  ROOT next = f32[64,16]{1,0} fusion(rest, row), kind=kLoop, calls=fused
}
"""


@pytest.mark.parametrize(
    ("place", "other", "is_state", "named"),
    [
        ("0_1", "p1", True, ["rest"]),
        pytest.param("1_0", "p1", True, [], id="a row is replaced"),
        pytest.param("0_1", "zeros", True, [], id="nothing new comes in"),
        pytest.param("0_1", "p1", False, [], id="no state of the program"),
    ],
)
def test_a_tpu_stores_the_rows_that_it_moves(programs, place, other, is_state, named):
    program = programs(
        ALLOCATIONS,
        """
        0 | old  | f32[64,16] | 0 | 4096 | 0-1 | parameter(0) | cache
        1 | row  | f32[1,16]  | 0 | 64   | 0-3 | parameter(1) | row
        2 | rest | f32[63,16] | 0 | 4032 | 1-2 | slice(old) | jit(f)/slice @ f.py:9
        0 | next | f32[64,16] | 0 | 4096 | 2-3 | fusion(rest, row) | jit(f)/sum @ f.py:10
        """,
    )
    fused = ("constant", "maximum", "pad")
    program.instructions["next"] = program.instructions["next"]._replace(fused_opcodes=fused)
    if is_state:
        share_one_buffer_set(program, "old", "next")
    text = PADDED.replace("PLACE", place).replace("OTHER", other)
    program.stored.operations = operations_of_text(text)
    rows = [row for cause in shifted_states(program) for row in cause.rows]
    assert [row["value"] for row in rows] == named
    assert {row["reason"] for row in rows} <= {"f.py:9 moves nearly all rows of cache"}
