"""Rows of values for which the change of a query has no effect are left out."""

from dataclasses import replace

import pytest

from tests.advice.small_compilations import share_one_buffer_set
from xlagraph.advice.causes.boundaries import wide_floats
from xlagraph.advice.causes.returned_values import unchanged_inputs
from xlagraph.advice.changeable_rows import changeable_rows, kept_for_fetches, wider_than_others
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.queries.catalogue.declarations import ChangeKind


def test_a_result_in_another_order_of_dimensions_keeps_its_type(returning):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[32,32]| at ShapeIndex {}
        1 | 8192 | preallocated-temp
        2 | 4096 | maybe-live-out
        """,
        """
        0 | w   | f32[32,32] | 0    | 4096 | 0-4 | parameter(0)
        1 | act | f32[32,32] | 0    | 4096 | 1-2 | tanh(w)
        1 | new | f32[32,32] | 4096 | 4096 | 2-3 | subtract(w, act)
        2 | out | f32[32,32] | 0    | 4096 | 3-4 | transpose(new)
        """,
        "out",
    )
    rows = [{"value": "act", "dtype": "f32"}, {"value": "new", "dtype": "f32"}]
    assert changeable_rows(program, ChangeKind.HALF, rows) == rows[:1]


def test_values_of_float64_are_left_to_the_cause_that_names_all(returning):
    program = returning(
        """
        0 | 2048 | parameter 0, shape |f64[256]| at ShapeIndex {}
        1 | 4096 | preallocated-temp
        2 | 2048 | maybe-live-out
        """,
        """
        0 | w     | f64[256]  | 0    | 2048 | 0-4 | parameter(0)
        1 | act   | f64[256]  | 0    | 2048 | 1-3 | tanh(w)
        1 | index | s64[256]  | 2048 | 2048 | 2-3 | convert(w)
        2 | out   | f64[256]  | 0    | 2048 | 3-4 | gather(act, index)
        """,
        "out",
    )
    assert [row["value"] for cause in wide_floats(program) for row in cause.rows] == [
        "w",
        "act",
        "out",
    ]
    rows = [{"value": "act", "dtype": "f64"}, {"value": "index", "dtype": "s64"}]
    assert changeable_rows(program, ChangeKind.HALF, rows) == rows[1:]


def test_an_input_that_is_fetched_first_and_returned_unchanged_is_not_donated(returning):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | preallocated-temp
        2 | 4096 | maybe-live-out
        """,
        """
        0 | w     | f32[1024] | 0 | 4096 | 0-3 | parameter(0)
        1 | fetch | f32[1024] | 0 | 4096 | 1-2 | copy-start(w)
        2 | out   | f32[1024] | 0 | 4096 | 2-3 | copy(fetch)
        """,
        "out",
    )
    (cause,) = unchanged_inputs(program)
    assert [row["value"] for row in cause.rows] == ["out"]
    assert changeable_rows(program, ChangeKind.DONATE, [{"value": "w"}]) == []


def test_a_state_that_a_loop_writes_over_a_copy_of_an_input_is_a_new_value(returning):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | preallocated-temp
        2 | 4096 | maybe-live-out
        """,
        """
        0 | w    | f32[1024] | 0 | 4096 | 0-4 | parameter(0)
        1 | c    | f32[1024] | 0 | 4096 | 1-2 | copy(w)
        1 | loop | f32[1024] | 0 | 4096 | 2-3 | dynamic-update-slice(c)
        2 | out  | f32[1024] | 0 | 4096 | 3-4 | copy(loop)
        """,
        "out",
    )
    share_one_buffer_set(program, "c", "loop")
    assert list(unchanged_inputs(program)) == []
    assert changeable_rows(program, ChangeKind.DONATE, [{"value": "w"}]) == [{"value": "w"}]


@pytest.mark.parametrize(
    ("platform", "of_grad", "kept"),
    [
        ("tpu", "jit(f)/transpose(jvp())/mul", ["act"]),
        ("tpu", "jit(f)/transpose(jvp())/checkpoint/mul", []),
        ("cpu", "jit(f)/transpose(jvp())/mul", []),
    ],
)
def test_values_that_a_tpu_fetches_for_the_backward_pass_are_kept_for_it(
    returning, platform, of_grad, kept
):
    program = returning(
        """
        0 | 4096  | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 16384 | preallocated-temp
        2 | 4096  | maybe-live-out
        """,
        f"""
        0 | p     | f32[1024] | 0     | 4096 | 0-6 | parameter(0)
        1 | act   | f32[1024] | 0     | 4096 | 1-4 | tanh(p)          | jit(f)/jvp()/tanh
        1 | wide  | f32[2048] | 4096  | 8192 | 2-3 | exponential(act) | jit(f)/jvp()/exp
        1 | seed  | f32[1024] | 12288 | 4096 | 3-5 | slice(wide)      | jit(f)/transpose(jvp())/neg
        1 | fetch | f32[1024] | 4096  | 4096 | 4-5 | copy(act)
        2 | grad  | f32[1024] | 0     | 4096 | 5-6 | multiply(fetch, seed) | {of_grad}
        """,
        "grad",
    )
    program.compilation = replace(program.compilation, platform=platform)
    assert [row["value"] for row in kept_for_fetches(program, ())] == kept


@pytest.mark.parametrize(
    ("cast", "wide"),
    [
        pytest.param("bf16", ["act", "index"], id="some-are-half-as-wide"),
        pytest.param("s32", ["index"], id="all-floats-are-f32"),
    ],
)
def test_floats_are_wide_only_next_to_those_of_half_the_width(returning, cast, wide):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 16384 | preallocated-temp
        2 | 4096 | maybe-live-out
        """,
        f"""
        0 | w     | f32[1024]    | 0     | 4096 | 0-5 | parameter(0)
        1 | act   | f32[1024]    | 0     | 4096 | 1-4 | tanh(w)
        1 | index | s64[1024]    | 4096  | 8192 | 2-4 | iota()
        1 | cast  | {cast}[1024] | 12288 | 2048 | 3-4 | convert(act)
        2 | out   | f32[1024]    | 0     | 4096 | 4-5 | gather(act, index, cast)
        """,
        "out",
    )
    rows = [{"value": "act", "dtype": "f32"}, {"value": "index", "dtype": "s64"}]
    assert [row["value"] for row in wider_than_others(program, rows)] == wide


@pytest.mark.parametrize(("filled", "kept"), [("zeros", []), ("most", [{"value": "copy"}])])
def test_a_copy_of_an_array_that_a_fusion_fills_is_the_compilers(programs, filled, kept):
    program = programs(
        "0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}\n1 | 12288 | preallocated-temp",
        """
        0 | x       | f32[1024] | 0    | 4096 | 0-4 | parameter(0)
        1 | two{0}  | f32[1024] | 0    | 4096 | 1-4 | fusion(x)
        1 | two{1}  | f32[1024] | 4096 | 4096 | 1-4 | fusion(x)
        1 | copy    | f32[1024] | 8192 | 4096 | 2-4 | copy(two{1})
        1 | sum     | f32[1024] | 8192 | 4096 | 3-4 | scatter(copy, two{0}, two{1})
        """,
    )
    other = "zeros" if filled == "most" else "most"
    program.stored.operations = operations_of_text(f"""HloModule m

fused {{
  given = f32[1024]{{0}} parameter(0)
  zero = f32[] constant(0)
  zeros = f32[1024]{{0}} broadcast(zero), dimensions={{}}
  most = f32[1024]{{0}} maximum(given, zeros)
  ROOT both = (f32[1024]{{0}}, f32[1024]{{0}}) tuple({other}, {filled})
}}

ENTRY e {{
  x = f32[1024]{{0}} parameter(0)
  two = (f32[1024]{{0}}, f32[1024]{{0}}) fusion(x), kind=kLoop, calls=fused
}}
""")
    assert changeable_rows(program, ChangeKind.WITHOUT, [{"value": "copy"}]) == kept


@pytest.mark.parametrize(
    ("taken", "kept"),
    [
        pytest.param("[0:8], [0:16]", [], id="rows"),
        pytest.param("[0:16], [0:8]", ["act"], id="features, as a layer may take"),
    ],
)
def test_a_checkpoint_keeps_the_rows_of_an_input_that_it_is_passed(programs, taken, kept):
    lengths = "8,16" if taken.startswith("[0:8]") else "16,8"
    program = programs(
        """
        0 | 1024 | parameter 0, shape |f32[16,16]| at ShapeIndex {}
        1 | 512  | preallocated-temp
        2 | 4    | maybe-live-out
        """,
        f"""
        0 | x | f32[16,16] | 0 | 1024 | 0-3 | parameter(0)
        1 | act | f32[{lengths}] | 0 | 512 | 1-2 | fusion(x) | jit(f)/jvp()/mul
        2 | out | f32[] | 0 | 4 | 2-3 | reduce(act) | jit(f)/transpose(jvp())/sum
        """,
    )
    program.stored.operations = operations_of_text(f"""HloModule m

%fused (p: f32[16,16]) -> f32[{lengths}] {{
  %p = f32[16,16]{{1,0}} parameter(0)
  %s = f32[{lengths}]{{1,0}} slice(%p), slice={{{taken}}}
  ROOT %m = f32[{lengths}]{{1,0}} multiply(%s, %s)
}}

ENTRY %main (x: f32[16,16]) -> f32[{lengths}] {{
  %x = f32[16,16]{{1,0}} parameter(0)
  ROOT %act = f32[{lengths}]{{1,0}} fusion(%x), kind=kLoop, calls=%fused
}}
""")
    rows = changeable_rows(program, ChangeKind.RECOMPUTE, [{"value": "act"}])
    assert [row["value"] for row in rows] == kept


@pytest.mark.parametrize(("loop", "kept"), [("while.1", []), (None, ["whole"])])
def test_the_parameters_of_one_layer_that_a_loop_gathers_are_gathered_late_enough(
    programs, loop, kept
):
    program = programs(
        """
        0 | 512  | parameter 0, shape |f32[16,8]| at ShapeIndex {}
        1 | 1024 | preallocated-temp
        """,
        """
        0 | p     | f32[16,8] | 0   | 512 | 0-4 | parameter(0)
        1 | part  | f32[1,8]  | 0   | 32  | 1-2 | fusion(p)
        1 | whole | f32[1,64] | 256 | 256 | 2-3 | all-gather(part)
        1 | out   | f32[]     | 512 | 4   | 3-4 | reduce(whole)
        """,
    )
    for name in ("part", "whole"):
        program.instructions[name] = program.instructions[name]._replace(loop=loop)
    program.stored.operations = operations_of_text("""HloModule m

%fused (w: f32[16,8]) -> f32[1,8] {
  %w = f32[16,8]{1,0} parameter(0)
  %i = s32[] constant(3)
  ROOT %row = f32[1,8]{1,0} dynamic-slice(%w, %i, %i), dynamic_slice_sizes={1,8}
}

ENTRY %main (p: f32[16,8]) -> f32[1,64] {
  %p = f32[16,8]{1,0} parameter(0)
  %part = f32[1,8]{1,0} fusion(%p), kind=kLoop, calls=%fused
  ROOT %whole = f32[1,64]{1,0} all-gather(%part), dimensions={1}
}
""")
    rows = changeable_rows(program, ChangeKind.SHARD, [{"value": "whole"}])
    assert [row["value"] for row in rows] == kept
