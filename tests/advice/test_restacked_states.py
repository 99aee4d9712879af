"""`advise` names arrays whose parts are updated one by one and joined again."""

import pytest

from tests.advice.small_compilations import share_one_buffer_set, with_overwrites
from xlagraph.advice.causes.restacked_states import restacked_states
from xlagraph.planner.dimensions.stored_operations import operations_of_text


@pytest.mark.parametrize(
    ("write", "take", "of", "found"),
    [
        ("dynamic-update-slice", "slice", "k", True),
        ("scatter", "dynamic-slice", "k", True),
        pytest.param("add", "slice", "k", False, id="the whole part is new"),
        pytest.param("scatter", "slice", "other", False, id="parts of an array of another size"),
        pytest.param("scatter", "negate", "k", False, id="no parts of it"),
        pytest.param("scatter", "slice", "made", False, id="parts of a value that is no state"),
    ],
)
def test_an_array_of_new_parts_of_an_old_one_exists_twice(programs, write, take, of, found):
    program = programs(
        """
        0 | 8192  | parameter 0, shape |f32[2,1024]| at ShapeIndex {}
        1 | 49152 | preallocated-temp
        """,
        f"""
        0 | c     | f32[2,1024] | 0     | 8192  | 0-1 | parameter(0)
        1 | k     | f32[2,1024] | 0     | 8192  | 1-4 | copy(c)
        1 | other | f32[4,1024] | 24576 | 16384 | 1-4 | iota()
        1 | made  | f32[2,1024] | 40960 | 8192  | 1-4 | iota()
        1 | t0    | f32[1,1024] | 8192  | 4096  | 2-5 | {take}({of})
        1 | t1    | f32[1,1024] | 12288 | 4096  | 2-6 | {take}({of})
        1 | n0    | f32[1,1024] | 8192  | 4096  | 5-7 | {write}(t0)
        1 | n1    | f32[1,1024] | 12288 | 4096  | 6-7 | {write}(t1)
        1 | whole | f32[2,1024] | 16384 | 8192  | 7-8 | concatenate(n0, n1) | jit(f)/stack @ f.py:9
        """,
    )
    with_overwrites(program, ("n0", "t0"), ("n1", "t1"))
    causes = list(restacked_states(program))
    expected = [["k", "n0", "n1", "t0", "t1"]] if found else []
    assert [sorted(str(row["value"]) for row in cause.rows) for cause in causes] == expected
    assert all("f.py:9 joins the new parts of" in str(cause.rows[0]["reason"]) for cause in causes)


def test_parts_that_are_updated_in_other_bytes_exist_twice(programs):
    program = programs(
        """
        0 | 8192  | parameter 0, shape |f32[2,1024]| at ShapeIndex {}
        1 | 49152 | preallocated-temp
        """,
        """
        0 | c     | f32[2,1024] | 0     | 8192  | 0-1 | parameter(0)
        1 | k     | f32[2,1024] | 0     | 8192  | 1-4 | copy(c)
        1 | t0    | f32[1,1024] | 8192  | 4096  | 2-5 | slice(k)
        1 | t1    | f32[1,1024] | 12288 | 4096  | 2-5 | slice(k)
        1 | m1    | f32[1,1024] | 16384 | 4096  | 3-6 | copy(t1)
        1 | n0    | f32[1024]   | 20480 | 4096  | 5-7 | dynamic-update-slice(t0)
        1 | n1    | f32[1024]   | 24576 | 4096  | 6-7 | dynamic-update-slice(m1)
        1 | whole | f32[2,1024] | 28672 | 8192  | 7-8 | concatenate(n0, n1)
        """,
    )
    (cause,) = restacked_states(program)
    found = {row["value"] for row in cause.rows}
    assert found == {"k", "t0", "t1", "m1", "n0", "n1"}


FUSED = """HloModule m

f {{
  k = f32[2,8]{{1,0}} parameter(0)
  o = f32[2,8]{{1,0}} parameter(2)
  x = f32[1]{{0}} parameter(1)
  z = s32[] constant(0)
  s0 = f32[1,8]{{1,0}} slice(k), slice={{[0:1], [0:8]}}
  b0 = f32[8]{{0}} bitcast(s0)
  u0 = f32[8]{{0}} dynamic-update-slice(b0, x, z)
  r0 = f32[1,8]{{1,0}} bitcast(u0)
  s1 = f32[1,8]{{1,0}} slice({second}), slice={{[1:2], [0:8]}}
  b1 = f32[8]{{0}} bitcast(s1)
  u1 = f32[8]{{0}} {update}
  r1 = f32[1,8]{{1,0}} bitcast(u1)
  ROOT c = f32[2,8]{{1,0}} concatenate(r0, r1), dimensions={{0}}
}}

ENTRY e {{
  k = f32[2,8]{{1,0}} parameter(0)
  x = f32[1]{{0}} parameter(1)
  o = f32[2,8]{{1,0}} parameter(2)
  ROOT whole = f32[2,8]{{1,0}} fusion(k, x, o), kind=kLoop, calls=f
}}
"""


@pytest.mark.parametrize(
    ("second", "update", "found"),
    [
        ("k", "dynamic-update-slice(b1, x, z)", ["k"]),
        pytest.param("o", "dynamic-update-slice(b1, x, z)", [], id="parts of two arrays"),
        pytest.param("k", "negate(b1)", [], id="a part is new"),
    ],
)
def test_a_fusion_that_updates_all_parts_needs_a_copy_of_the_old_array(
    programs, second, update, found
):
    program = programs(
        """
        0 | 64  | parameter 0, shape |f32[2,8]| at ShapeIndex {}
        1 | 4   | parameter 1, shape |f32[1]| at ShapeIndex {}
        2 | 64  | parameter 2, shape |f32[2,8]| at ShapeIndex {}
        3 | 128 | preallocated-temp
        """,
        """
        0 | c     | f32[2,8] | 0  | 64 | 0-3 | parameter(0)
        1 | x     | f32[1]   | 0  | 4  | 0-3 | parameter(1)
        2 | o     | f32[2,8] | 0  | 64 | 0-3 | parameter(2)
        3 | k     | f32[2,8] | 0  | 64 | 1-2 | copy(c)
        3 | whole | f32[2,8] | 64 | 64 | 2-3 | fusion(k, x, o)
        """,
    )
    fused = ("bitcast", "concatenate", "dynamic-update-slice", "slice")
    program.instructions["whole"] = program.instructions["whole"]._replace(fused_opcodes=fused)
    program.stored.operations = operations_of_text(FUSED.format(second=second, update=update))
    assert [row["value"] for cause in restacked_states(program) for row in cause.rows] == found


@pytest.mark.parametrize(
    ("last", "result", "found"),
    [
        ("dynamic-slice(k)", "whole", True),
        pytest.param("dynamic-slice(other)", "whole", False, id="a part of another array"),
        pytest.param("add(k)", "whole", False, id="not computed from a part"),
        pytest.param("dynamic-slice(k)", "c2", False, id="an array that is not replaced"),
    ],
)
def test_parts_that_are_computed_and_replace_a_donated_array_are_named(
    programs, last, result, found
):
    program = programs(
        """
        0 | 12288 | parameter 0, shape |f32[3,1024]| at ShapeIndex {}
        1 | 12288 | parameter 1, shape |f32[3,1024]| at ShapeIndex {}
        2 | 49152 | preallocated-temp
        """,
        f"""
        0 | c     | f32[3,1024] | 0     | 12288 | 0-1 | parameter(0)
        1 | other | f32[3,1024] | 0     | 12288 | 0-1 | parameter(1)
        2 | k     | f32[3,1024] | 0     | 12288 | 1-4 | copy(c)
        2 | n0    | f32[1,1024] | 12288 | 4096  | 2-5 | dynamic-slice(k)
        2 | n1    | f32[1,1024] | 16384 | 4096  | 3-5 | dynamic-slice(k)
        2 | n2    | f32[1,1024] | 20480 | 4096  | 4-5 | {last}
        0 | whole | f32[3,1024] | 0     | 12288 | 5-6 | concatenate(n0, n1, n2) | jit(f)/stack
        """,
    )
    share_one_buffer_set(program, "c" if result == "whole" else "k", "whole")
    causes = list(restacked_states(program))
    expected = [["k", "n0", "n1", "n2"]] if found else []
    assert [sorted(str(row["value"]) for row in cause.rows) for cause in causes] == expected
