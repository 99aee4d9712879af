"""`advise` names values that are computed whole, of which a part is read."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.advice.small_compilations import share_one_buffer_set, with_results
from xlagraph.advice.causes.unread_rows import unread_rows
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.planner.edits.resizing import Scale

MODULE = """HloModule m

ENTRY e {
  x = f32[32,2]{1,0} parameter(0)
  w = f32[2,8]{1,0} parameter(1)
  zero = f32[] constant(0)
  z = f32[32,8]{1,0} broadcast(zero), dimensions={}
  h = f32[32,2]{1,0} HIDDEN(x)
  y = f32[32,8]{1,0} MAKER
  ROOT r = f32[1,8]{1,0} slice(y), slice={[31:32], [0:8]}
}
"""
SUMS = ", lhs_contracting_dims={1}, rhs_contracting_dims={0}"
TAKING = (
    "offset_dims={1}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1,"
    " slice_sizes={1,1,8}"
)
GIVEN = """
0 | 256  | parameter 0, shape |f32[32,2]| at ShapeIndex {}
1 | 64   | parameter 1, shape |f32[2,8]| at ShapeIndex {}
2 | 2304 | preallocated-temp
3 | 32   | maybe-live-out
"""
VALUES = """
0 | x | f32[32,2] | 0    | 256  | 0-5 | parameter(0)
1 | w | f32[2,8]  | 0    | 64   | 0-5 | parameter(1)
2 | h | f32[32,2] | 1024 | 256  | 1-4 | {hidden}(x) | jit(f)/tanh @ f.py:4
2 | z | f32[32,8] | 1280 | 1024 | 1-4 | broadcast()
2 | y | f32[32,8] | 0    | 1024 | 2-4 | {maker}(h, w, z) | jit(f)/{mark}dot_general @ f.py:5
3 | r | f32[1,8]  | 0    | 32   | 4-5 | {reader} | jit(f)/slice @ f.py:6
"""


def kept(
    programs,
    *,
    maker="dot",
    mark="",
    hidden="tanh",
    reader="slice(y)",
    result="r",
    other="",
    length="",
):
    """Return the part that each named value keeps."""
    values = VALUES.format(maker=maker, mark=mark, hidden=hidden, reader=reader)
    program = programs(GIVEN, values)
    sums = SUMS if maker == "dot" else f", fft_type=FFT, fft_length={{{length}}}" if length else ""
    text = MODULE.replace("MAKER", f"{maker}(h, w){sums}").replace("HIDDEN", hidden)
    text = text.replace("slice(y)", reader)
    program.stored.operations = operations_of_text(text)
    with_results(program, result)
    if other:
        also = program.by_label[other]._replace(name="y")  # another result of the same fusion
        changed = {**program.values, also.value_id: also}
        program.compilation = replace(program.compilation, values=changed)
    found: dict[str, Fraction] = {}
    for cause in unread_rows(program, ()):
        assert isinstance(cause.edit, Scale)
        assert cause.rows[0]["reason"] == "f.py:6 reads at most 1/32 of it"
        found |= cause.edit.kept_by_label
    return found


def test_what_is_made_for_rows_that_nothing_reads_is_not_needed(programs):
    assert kept(programs) == dict.fromkeys("yhz", Fraction(1, 32))


def test_a_small_value_of_each_row_may_be_made_of_large_ones(programs):
    program = programs(
        """
        0 | 128   | parameter 0, shape |f32[8,4]| at ShapeIndex {}
        1 | 8192  | parameter 1, shape |f32[4,512]| at ShapeIndex {}
        2 | 16448 | preallocated-temp
        3 | 4     | maybe-live-out
        """,
        """
        0 | x | f32[8,4]   | 0     | 128   | 0-4 | parameter(0)
        1 | w | f32[4,512] | 0     | 8192  | 0-4 | parameter(1)
        2 | y | f32[8,512] | 0     | 16384 | 1-3 | dot(x, w) | jit(f)/dot_general @ f.py:5
        2 | s | f32[8]     | 16384 | 32    | 2-4 | reduce(y) | jit(f)/reduce_max @ f.py:6
        3 | r | f32[1]     | 0     | 4     | 3-4 | slice(s)  | jit(f)/slice @ f.py:7
        """,
    )
    program.stored.operations = operations_of_text(
        """HloModule m

larger {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}

ENTRY e {
  x = f32[8,4]{1,0} parameter(0)
  w = f32[4,512]{1,0} parameter(1)
  zero = f32[] constant(0)
  y = f32[8,512]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[8]{0} reduce(y, zero), dimensions={1}, to_apply=larger
  ROOT r = f32[1]{0} slice(s), slice={[7:8]}
}
"""
    )
    with_results(program, "r")
    (cause,) = unread_rows(program, ())
    assert {row["value"]: row["reason"] for row in cause.rows} == {
        "s": "f.py:7 reads at most 1/8 of it",
        "y": "computed only for s: f.py:7 reads at most 1/8 of it",
    }


def test_gradients_of_a_part_have_no_other_rows_either(programs):
    """Zeros are padded around the gradient of the part."""
    values = VALUES.format(maker="dot", mark="", hidden="tanh", reader="slice(y)")
    program = programs(
        GIVEN.replace("2304", "3328"),
        values + "2 | g | f32[32,8] | 2304 | 1024 | 5-5 | pad(r) | jit(f)/transpose(jvp())/pad",
    )
    text = MODULE.replace("MAKER", f"dot(h, w){SUMS}").replace("HIDDEN", "tanh")
    text = text.replace("ROOT r", "r").removesuffix("}\n")
    text += "  ROOT g = f32[32,8]{1,0} pad(r, zero), padding=31_0x0_0\n}\n"
    program.stored.operations = operations_of_text(text)
    with_results(program, "r")
    (cause,) = unread_rows(program, ())
    assert {row["value"] for row in cause.rows} == {"y", "h", "z", "g"}


def test_rows_that_are_gathered_by_two_dimensions_add_their_gradients_to_zeros(programs):
    program = programs(
        """
        0 | 256  | parameter 0, shape |f32[2,16,2]| at ShapeIndex {}
        1 | 64   | parameter 1, shape |f32[2,8]| at ShapeIndex {}
        2 | 32   | parameter 2, shape |s32[4,2]| at ShapeIndex {}
        3 | 2432 | preallocated-temp
        """,
        """
        0 | x | f32[2,16,2] | 0    | 256  | 0-6 | parameter(0)
        1 | w | f32[2,8]    | 0    | 64   | 0-6 | parameter(1)
        2 | i | s32[4,2]    | 0    | 32   | 0-6 | parameter(2)
        3 | h | f32[2,16,2] | 0    | 256  | 1-4 | tanh(x) | jit(f)/jvp()/tanh @ f.py:4
        3 | y | f32[2,16,8] | 256  | 1024 | 2-4 | dot(h, w) | jit(f)/jvp()/dot @ f.py:5
        3 | r | f32[4,8]    | 2304 | 128  | 4-6 | gather(y, i) | jit(f)/jvp()/gather @ f.py:6
        3 | z | f32[2,16,8] | 1280 | 1024 | 5-6 | broadcast() | jit(f)/transpose(jvp())/zeros
        3 | g | f32[2,16,8] | 1280 | 1024 | 6-6 | scatter(z, i, r) | jit(f)/transpose(jvp())/add
        """,
    )
    share_one_buffer_set(program, "z", "g")
    program.stored.operations = operations_of_text(
        f"""HloModule m

ENTRY e {{
  x = f32[2,16,2]{{2,1,0}} parameter(0)
  w = f32[2,8]{{1,0}} parameter(1)
  i = s32[4,2]{{1,0}} parameter(2)
  h = f32[2,16,2]{{2,1,0}} tanh(x)
  y = f32[2,16,8]{{2,1,0}} dot(h, w), lhs_contracting_dims={{2}}, rhs_contracting_dims={{0}}
  r = f32[4,8]{{1,0}} gather(y, i), {TAKING}
  zero = f32[] constant(0)
  z = f32[2,16,8]{{2,1,0}} broadcast(zero), dimensions={{}}
  ROOT g = f32[2,16,8]{{2,1,0}} scatter(z, i, r), update_window_dims={{1}}, to_apply=add
}}
"""
    )
    (cause,) = unread_rows(program, ())
    assert cause.rows[0]["reason"] == "f.py:6 reads at most 1/8 of it"
    assert {row["value"] for row in cause.rows} == {"y", "h", "z"}


def test_what_is_made_of_all_rows_at_once_is_kept(programs):
    assert kept(programs, hidden="fft") == dict.fromkeys("yz", Fraction(1, 32))


@pytest.mark.parametrize(("length", "named"), [("8", "yhz"), ("32,8", "")])
def test_a_transform_of_each_row_needs_no_other_rows(programs, length, named):
    found = kept(programs, maker="fft", length=length)
    assert found == dict.fromkeys(named, Fraction(1, 32))


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"reader": "negate(y)"}, id="all rows are read"),
        pytest.param({"result": "y"}, id="all rows are returned"),
        pytest.param({"other": "z"}, id="the fusion makes another array too"),
        pytest.param({"maker": "fft"}, id="a row needs the others"),
        pytest.param({"maker": "concatenate"}, id="only put together"),
        pytest.param({"mark": "transpose(jvp())/"}, id="of the backward pass"),
    ],
)
def test_others_are_not_named(programs, changed):
    assert kept(programs, **changed) == {}


@pytest.mark.parametrize(
    "made",
    [
        pytest.param("slice(d), slice={[0:32], [0:8]}", id="a part of what it computes"),
        pytest.param("dynamic-update-slice(w, u, i, j)", id="an array with an update"),
    ],
)
def test_a_fusion_may_only_move_what_is_read(programs, made):
    program = programs(
        GIVEN, VALUES.format(maker="fusion", mark="", hidden="tanh", reader="slice(y)")
    )
    program.stored.operations = operations_of_text(
        MODULE.replace(
            "ENTRY e {",
            f"""c {{
  p = f32[32,2]{{1,0}} parameter(0)
  q = f32[2,8]{{1,0}} parameter(1)
  d = f32[64,8]{{1,0}} dot(p, q), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  o = bf16[32,8]{{1,0}} iota(), iota_dimension=0
  w = f32[32,8]{{1,0}} convert(o)
  u = f32[1,8]{{1,0}} slice(d), slice={{[0:1], [0:8]}}
  i = s32[] constant(0)
  j = s32[] constant(0)
  s = f32[32,8]{{1,0}} {made}
  ROOT b = f32[32,8]{{1,0}} bitcast(s)
}}

ENTRY e {{""",
        ).replace("MAKER", "fusion(h, w), kind=kLoop, calls=c")
    )
    with_results(program, "r")
    assert list(unread_rows(program, ())) == []


def test_a_part_of_what_a_scatter_adds_to_zeros_has_another_cause(programs):
    """Most bytes are those that it adds; the compiler could not skip the unread ones."""
    program = programs(
        """
        0 | 1024 | parameter 0, shape |f32[128,2]| at ShapeIndex {}
        1 | 4608 | preallocated-temp
        2 | 128  | maybe-live-out
        """,
        """
        0 | x | f32[128,2] | 0    | 1024 | 0-4 | parameter(0)
        1 | z | f32[32,8]  | 0    | 1024 | 1-2 | broadcast() | jit(f)/broadcast_in_dim @ f.py:4
        1 | y | f32[32,8]  | 0    | 1024 | 2-3 | scatter(z, x) | jit(f)/scatter-add @ f.py:5
        2 | r | f32[32,1]  | 0    | 128  | 3-4 | slice(y) | jit(f)/slice @ f.py:6
        """,
    )
    program.stored.operations = operations_of_text(
        """HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  x = f32[128,2]{1,0} parameter(0)
  zero = f32[] constant(0)
  i = s32[128,1]{1,0} iota(), iota_dimension=0
  z = f32[32,8]{1,0} broadcast(zero), dimensions={}
  y = f32[32,8]{1,0} scatter(z, i, x), to_apply=add, update_window_dims={1}
  ROOT r = f32[32,1]{1,0} slice(y), slice={[0:32], [0:1]}
}
"""
    )
    share_one_buffer_set(program, "z", "y")
    with_results(program, "r")
    assert not list(unread_rows(program, ()))
