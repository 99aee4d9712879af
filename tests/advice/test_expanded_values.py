"""`advise` names values far larger than what they are computed from, of which sums are read."""

from fractions import Fraction

import pytest

from tests.advice.small_compilations import share_one_buffer_set, with_results
from xlagraph.advice.causes import search
from xlagraph.advice.causes.expanded_values import expanded_values
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.planner.edits.resizing import ComputeInParts

MODULE = """HloModule m

ENTRY e {
  x = f32[32,2]{1,0} parameter(0)
  y = f32[64,2]{1,0} parameter(1)
  k = f32[32,64]{1,0} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  zero = f32[] constant(0)
  most = f32[32]{0} reduce(k, zero), dimensions={1}, to_apply=add
  rows = f32[32,64]{1,0} broadcast(most), dimensions={0}
  p = f32[32,64]{1,0} subtract(k, rows)
  s = f32[64]{0} reduce(p, zero), dimensions={0}, to_apply=add
  columns = f32[32,64]{1,0} broadcast(s), dimensions={1}
  q = f32[32,64]{1,0} subtract(p, columns)
  ROOT r = f32[32]{0} reduce(q, zero), dimensions={1}, to_apply=add
}
"""
GIVEN = """
0 | 256  | parameter 0, shape |f32[32,2]| at ShapeIndex {}
1 | 512  | parameter 1, shape |f32[64,2]| at ShapeIndex {}
2 | 33280 | preallocated-temp
3 | 256 | maybe-live-out
"""
VALUES = """
0 | x | f32[32,2]  | 0     | 256  | 0-{end} | parameter(0)
1 | y | f32[64,2]  | 0     | 512  | 0-{end} | parameter(1)
2 | k | f32[32,64] | 0     | 8192 | 1-4 | {k}(x, y) | jit(f)/{mark}exp @ f.py:5
2 | most | f32[32] | 32768 | 128  | 2-4 | reduce(k) | jit(f)/max @ f.py:6
2 | p | f32[32,64] | 8192  | 8192 | 3-6 | subtract(k, most) | jit(f)/sub @ f.py:7
"""
ONE_SUM = "3 | s | f32[64] | 0 | 256 | 4-6 | reduce(p) | jit(f)/sum @ f.py:8"
ONE_ROW_EACH = {"loop": "y", "opcode": "fusion", "fused_opcodes": ("dynamic-slice", "reduce")}
SUMS_OF_BOTH = """
2 | s | f32[64]    | 33024 | 256  | 4-6 | reduce(p) | jit(f)/sum @ f.py:8
2 | q | f32[32,64] | 16384 | 8192 | 5-7 | subtract(p, s) | jit(f)/sub @ f.py:9
3 | r | f32[32]    | 0     | 128  | 6-8 | reduce(q) | jit(f)/sum @ f.py:9
"""


def causes(
    programs,
    *,
    k="dot",
    mark="",
    sums=ONE_SUM,
    result="s",
    named=(),
    given="parameter",
    loop=None,
    reader=None,
):
    program = programs(GIVEN, VALUES.format(k=k, mark=mark, end=8 if "q |" in sums else 6) + sums)
    program.stored.operations = operations_of_text(MODULE)
    program.instructions |= {
        name: program.instructions[name]._replace(loop=loop) for name in ("k", "most", "p", "s")
    } | ({"s": program.instructions["s"]._replace(**reader)} if reader else {})
    program.instructions["x"] = program.instructions["x"]._replace(opcode=given)
    with_results(program, result)
    return list(expanded_values(program, named))


def test_pairs_of_which_sums_are_read_could_be_computed_in_parts(programs):
    (cause,) = causes(programs)
    part = Fraction(1, 8)
    assert isinstance(cause.edit, ComputeInParts)
    assert cause.edit.kept_by_label == {"k": part, "p": part}
    assert "for all 32 rows from 768 B" in str(cause.rows[0]["reason"])
    assert "such as f.py:6, makes 384 B" in str(cause.rows[0]["reason"])


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"k": "subtract", "mark": "transpose(jvp())/"}, id="of the backward pass"),
        pytest.param({"loop": "y"}, id="in a loop over steps"),
    ],
)
def test_pairs_are_found_wherever_they_are_computed(programs, changed):
    (cause,) = causes(programs, **changed)
    assert {row["value"] for row in cause.rows} == {"k", "p"}


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"named": ("p",)}, id="another cause names them"),
        pytest.param({"result": "p"}, id="they are returned"),
        pytest.param({"k": "cholesky"}, id="all rows are needed for each"),
        pytest.param({"k": "copy"}, id="an input is copied"),
        pytest.param({"mark": "transpose(jvp())/"}, id="activations of a product"),
        pytest.param({"loop": "y", "given": "dynamic-slice"}, id="in a loop over rows"),
        pytest.param({"sums": SUMS_OF_BOTH, "result": "r"}, id="sums over both are read with them"),
        pytest.param({"reader": ONE_ROW_EACH}, id="a loop could compute the row that it reads"),
    ],
)
def test_others_are_not_named(programs, changed):
    assert causes(programs, **changed) == []


BITS = """HloModule m

cond {
  p = (s32[], u32[32,64]{1,0}) parameter(0)
  ROOT more = pred[] custom-call(p), custom_call_target="more"
}

body {
  q = (s32[], u32[32,64]{1,0}) parameter(0)
  i = s32[] get-tuple-element(q), index=0
  b = u32[32,64]{1,0} get-tuple-element(q), index=1
  x = u32[32,64]{1,0} xor(b, b)
  ROOT t = (s32[], u32[32,64]{1,0}) tuple(i, x)
}

ENTRY e {
  key = u32[32,1]{1,0} parameter(0)
  i0 = s32[] constant(0)
  b0 = u32[32,64]{1,0} broadcast(key), dimensions={0,1}
  t0 = (s32[], u32[32,64]{1,0}) tuple(i0, b0)
  w = (s32[], u32[32,64]{1,0}) while(t0), condition=cond, body=body
  bits = u32[32,64]{1,0} get-tuple-element(w), index=1
  ROOT s = u32[32]{0} reduce(bits, i0), dimensions={1}, to_apply=add
}
"""


@pytest.mark.parametrize(("dtype", "named"), [("u32", {"b0"}), ("f32", set())])
def test_random_bits_of_a_loop_could_be_made_in_parts(programs, dtype, named):
    program = programs(
        """
        0 | 128 | parameter 0, shape |u32[32,1]| at ShapeIndex {}
        1 | 8192 | preallocated-temp
        2 | 128 | maybe-live-out
        """,
        f"""
        0 | key        | u32[32,1]      | 0 | 128  | 0-6 | parameter(0)
        1 | b0         | {dtype}[32,64] | 0 | 8192 | 1-1 | broadcast(key) | jit(f)/add @ f.py:5
        1 | q{{1}} (phi) | {dtype}[32,64] | 0 | 8192 | 2-2 | parameter(0)
        1 | x          | {dtype}[32,64] | 0 | 8192 | 3-3 | xor(q{{1}})
        1 | w{{1}} (phi) | {dtype}[32,64] | 0 | 8192 | 4-5 | while(b0)
        2 | s          | u32[32]        | 0 | 128  | 5-6 | reduce(w{{1}}) | jit(f)/sum @ f.py:8
        """,
    )
    share_one_buffer_set(program, "b0", "q{1}", "x", "w{1}")
    program.instructions |= {
        name: program.instructions[name]._replace(loop="w") for name in ("q", "x")
    }
    program.stored.operations = operations_of_text(BITS.replace("u32[32,64]", f"{dtype}[32,64]"))
    with_results(program, "s")
    rows = (row for cause in expanded_values(program, ()) for row in cause.rows)
    assert {row["value"] for row in rows} == named


PAIRS = """HloModule m

subtracted {
  a = f32[16,16,6]{2,1,0} parameter(0)
  b = f32[16,16,6]{2,1,0} parameter(1)
  ROOT c = f32[16,16,6]{2,1,0} subtract(a, b)
}

repeated {
  q = f32[16,6]{1,0} parameter(0)
  ROOT r = f32[16,16,6]{2,1,0} broadcast(q), dimensions={1,2}
}

ENTRY e {
  x = f32[16,6]{1,0} parameter(0)
  y = f32[16,6]{1,0} parameter(1)
  all = f32[16,16,6]{2,1,0} fusion(y), kind=kLoop, calls=repeated
  rows = f32[16,16,6]{2,1,0} broadcast(x), dimensions={0,2}
  d = f32[16,16,6]{2,1,0} fusion(rows, all), kind=kLoop, calls=subtracted
  p = f32[16,16,6]{2,1,0} fusion(d, all), kind=kLoop, calls=subtracted
  zero = f32[] constant(0)
  ROOT s = f32[16,16]{1,0} reduce(p, zero), dimensions={2}, to_apply=add
}
"""


def test_pairs_of_one_batch_have_their_rows_in_one_order(programs):
    program = programs(
        """
        0 | 384 | parameter 0, shape |f32[16,6]| at ShapeIndex {}
        1 | 384 | parameter 1, shape |f32[16,6]| at ShapeIndex {}
        2 | 18432 | preallocated-temp
        3 | 1024 | maybe-live-out
        """,
        """
        0 | x    | f32[16,6]    | 0     | 384  | 0-6 | parameter(0)
        1 | y    | f32[16,6]    | 0     | 384  | 0-6 | parameter(1)
        2 | all  | f32[16,16,6] | 0     | 6144 | 1-5 | fusion(y)
        2 | rows | f32[16,16,6] | 6144  | 6144 | 2-4 | broadcast(x)
        2 | d    | f32[16,16,6] | 12288 | 6144 | 3-5 | fusion(rows, all)
        2 | p    | f32[16,16,6] | 6144  | 6144 | 4-6 | fusion(d, all)
        3 | s    | f32[16,16]   | 0     | 1024 | 5-6 | reduce(p)
        """,
    )
    program.stored.operations = operations_of_text(PAIRS)
    with_results(program, "s")
    (cause,) = expanded_values(program, ())
    assert {row["value"] for row in cause.rows} == {"all", "rows", "d", "p"}


CHAINS = """HloModule m

ENTRY e {
  w = f32[16,2]{1,0} parameter(0)
  x = f32[64,2]{1,0} parameter(1)
  k = f32[16,64]{1,0} dot(w, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  p = f32[16,64]{1,0} logistic(k)
  g = f32[16,2]{1,0} dot(p, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT h = {last}
}
"""


@pytest.mark.parametrize(
    ("read", "last", "is_named"),
    [
        ("g", "f32[16,2]{1,0} multiply(g, g)", True),
        pytest.param(
            "p",
            "f32[64,2]{1,0} dot(p, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
            False,
            id="both factors have gradients",
        ),
        pytest.param("g", "f32[2,2]{1,0} dot(g, g), lhs_contracting_dims={0}", False, id="mixed"),
    ],
)
def test_gradients_of_each_chain_could_be_computed_for_a_few_chains(programs, read, last, is_named):
    program = programs(
        """
        0 | 128 | parameter 0, shape |f32[16,2]| at ShapeIndex {}
        1 | 512 | parameter 1, shape |f32[64,2]| at ShapeIndex {}
        2 | 8704 | preallocated-temp
        3 | 128 | maybe-live-out
        """,
        f"""
        0 | w | f32[16,2]  | 0    | 128  | 0-5 | parameter(0)
        1 | x | f32[64,2]  | 0    | 512  | 0-5 | parameter(1)
        2 | k | f32[16,64] | 0    | 4096 | 1-3 | dot(w, x) | jvp(vmap())/dot_general @ f.py:5
        2 | p | f32[16,64] | 4096 | 4096 | 2-5 | logistic(k) | transpose(jvp(vmap()))/mul @ f.py:5
        2 | g | f32[16,2]  | 8192 | 512  | 3-5 | dot(p, x) | transpose(jvp(vmap()))/dot @ f.py:5
        3 | h | f32[16,2]  | 0    | 128  | 4-5 | dot({read})
        """,
    )
    program.stored.operations = operations_of_text(CHAINS.replace("{last}", last))
    with_results(program, "h")
    rows = {row["value"] for cause in expanded_values(program, ()) for row in cause.rows}
    assert rows == ({"k", "p"} if is_named else set())


PAIRS_AND_NUMBER = """HloModule m

summed {
  a = f32[16,16,6]{2,1,0} parameter(0)
  b = f32[16,16,6]{2,1,0} parameter(1)
  no = f32[] constant(0)
  c = f32[] reduce(a, no), dimensions={0,1,2}, to_apply=add
  t = f32[] reduce(b, no), dimensions={0,1,2}, to_apply=add
  ROOT u = f32[] add(c, t)
}

ENTRY e {
  x = f32[16,6]{1,0} parameter(0)
  y = f32[16,6]{1,0} parameter(1)
  one = f32[] constant(1)
  rows = f32[16,16,6]{2,1,0} broadcast(one), dimensions={}
  all = f32[16,16,6]{2,1,0} broadcast(y), dimensions={1,2}
  d = f32[16,16,6]{2,1,0} subtract(all, all)
  p = f32[16,16,6]{2,1,0} subtract(d, all)
  ROOT s = f32[] fusion(p, rows), kind=kLoop, calls=summed
}
"""


def test_a_repeated_number_that_is_computed_with_pairs_has_any_of_their_rows(programs):
    program = programs(
        """
        0 | 384 | parameter 0, shape |f32[16,6]| at ShapeIndex {}
        1 | 384 | parameter 1, shape |f32[16,6]| at ShapeIndex {}
        2 | 24576 | preallocated-temp
        3 | 4 | maybe-live-out
        """,
        """
        0 | x    | f32[16,6]    | 0     | 384  | 0-6 | parameter(0)
        1 | y    | f32[16,6]    | 0     | 384  | 0-6 | parameter(1)
        2 | rows | f32[16,16,6] | 6144  | 6144 | 1-6 | broadcast()
        2 | all  | f32[16,16,6] | 0     | 6144 | 2-5 | fusion(y)
        2 | d    | f32[16,16,6] | 12288 | 6144 | 3-5 | fusion(all, all)
        2 | p    | f32[16,16,6] | 18432 | 6144 | 4-6 | fusion(d, all)
        3 | s    | f32[]        | 0     | 4    | 5-6 | fusion(p, rows)
        """,
    )
    program.instructions["s"] = program.instructions["s"]._replace(fused_opcodes=("reduce", "add"))
    program.stored.operations = operations_of_text(PAIRS_AND_NUMBER)
    with_results(program, "s")
    (cause,) = expanded_values(program, ())
    assert {row["value"] for row in cause.rows} == {"all", "rows", "d", "p"}


def test_rows_that_are_summed_in_two_steps_are_counted_together(programs):
    program = programs(
        GIVEN,
        """
        0 | x | f32[32,2]  | 0    | 256  | 0-4 | parameter(0)
        1 | y | f32[64,2]  | 0    | 512  | 0-4 | parameter(1)
        2 | k | f32[32,64] | 0    | 8192 | 1-3 | dot(x, y)
        3 | s | f32[4]     | 0    | 16   | 2-4 | reduce(k) | jit(f)/sum @ f.py:8
        """,
    )
    program.stored.operations = operations_of_text("""HloModule m

ENTRY e {
  x = f32[32,2]{1,0} parameter(0)
  y = f32[64,2]{1,0} parameter(1)
  k = f32[32,64]{1,0} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  zero = f32[] constant(0)
  parts = f32[4,8,64]{2,1,0} bitcast(k)
  ROOT s = f32[4]{0} reduce(parts, zero), dimensions={1,2}, to_apply=add
}
""")
    with_results(program, "s")
    (cause,) = expanded_values(program, ())
    assert str(cause.rows[0]["reason"]).startswith("computed for all 32 rows from 768 B")


def test_what_a_wide_checkpoint_recomputes_could_be_computed_in_parts_too(programs, monkeypatch):
    (found,) = causes(programs)
    given: list[set[str]] = []
    for name, yields in {
        "_certain_causes": (),
        "widened_stacks": (),
        "unrolled_checkpoints": (),
        "wide_checkpoints": (found,),
    }.items():
        monkeypatch.setattr(search, name, lambda *_, yields=yields: yields)

    def search_others(_, named):
        given.append(set(named))
        return ()

    for name in ("unread_rows", "expanded_values"):
        monkeypatch.setattr(search, name, search_others)
    assert list(search.causes_of_values(found)) == [found]
    assert given == [{"k", "p"}, set()]


HALVES = """HloModule m

ENTRY e {
  x = f32[128,1]{1,0} parameter(0)
  y = f32[128,1]{1,0} parameter(1)
  k = f32[128,128]{1,0} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  h = f32[128,1]{1,0} slice(k), slice={[0:128], [0:1]}
  zero = f32[] constant(0)
  m = f32[128,128]{1,0} pad(h, zero), padding=0_0x0_127
  ROOT s = f32[128]{0} reduce(m, zero), dimensions={0}, to_apply=add
}
"""


@pytest.mark.parametrize(
    ("width", "named"),
    [(1, {"k", "h", "m"}), pytest.param(8, set(), id="activations of a product")],
)
def test_halves_of_a_scan_belong_to_the_rows_that_they_are_taken_from(programs, width, named):
    program = programs(
        f"""
        0 | {512 * width} | parameter 0, shape |f32[128,{width}]| at ShapeIndex {{}}
        1 | {512 * width} | parameter 1, shape |f32[128,{width}]| at ShapeIndex {{}}
        2 | 139264 | preallocated-temp
        3 | 512 | maybe-live-out
        """,
        f"""
        0 | x | f32[128,{width}] | 0 | {512 * width} | 0-5 | parameter(0)
        1 | y | f32[128,{width}] | 0 | {512 * width} | 0-5 | parameter(1)
        2 | k | f32[128,128] | 0     | 65536 | 1-2 | dot(x, y) | jit(f)/transpose(jvp())/dot_general
        2 | h | f32[128,1]   | 65536 | 512   | 2-3 | slice(k) | jit(f)/transpose(jvp())/pad
        2 | m | f32[128,128] | 73728 | 65536 | 3-4 | pad(h)    | jit(f)/transpose(jvp())/pad
        3 | s | f32[128]     | 0     | 512   | 4-5 | reduce(m) | jit(f)/transpose(jvp())/sum
        """,
    )
    program.stored.operations = operations_of_text(
        HALVES.replace(",1]{1,0} p", f",{width}]{{1,0}} p")
    )
    with_results(program, "s")
    rows = (row for cause in expanded_values(program, ()) for row in cause.rows)
    assert {row["value"] for row in rows} == named
