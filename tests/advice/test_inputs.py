"""`advise` names inputs that are kept in another type, that grow, or of which a slice is read."""

from dataclasses import replace
from fractions import Fraction

import pytest

from xlagraph.advice.causes.converted_inputs import converted_inputs
from xlagraph.advice.causes.grown_inputs import grown_inputs
from xlagraph.advice.causes.sliced_inputs import sliced_inputs
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.planner.edits.resizing import Scale


@pytest.mark.parametrize(
    ("dtype", "platform", "second_reader", "named"),
    [
        ("bf16", "cpu", "jit(f)/transpose(jvp())/dot", ["c"]),
        ("f64", "cpu", "jit(f)/transpose(jvp())/dot", []),  # as the compiler may have it
        ("f64", "gpu", "jit(f)/transpose(jvp())/dot", ["c"]),
        ("f32", "gpu", "jit(f)/transpose(jvp())/dot", []),
        ("bf16", "cpu", "jit(f)/jvp()/dot", []),  # the backward pass does not read it
    ],
)
def test_a_copy_of_a_parameter_in_another_type_that_both_passes_read_is_named(
    programs, dtype, platform, second_reader, named
):
    size = {"bf16": 2048, "f32": 4096, "f64": 8192}[dtype]
    program = programs(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 16384 | preallocated-temp
        """,
        f"""
        0 | w | f32[1024]     | 0     | 4096   | 0-5 | parameter(0)
        1 | c | {dtype}[1024] | 0     | {size} | 1-4 | convert(w) | jit(f)/jvp()/convert
        1 | h | f32[1024]     | 8192  | 4096   | 2-3 | dot(c)     | jit(f)/jvp()/dot
        1 | l | f32[]         | 12288 | 4      | 3-4 | reduce(h)  | jit(f)/jvp()/sum
        1 | d | f32[64]       | 12352 | 256    | 4-4 | dot(c, l)  | {second_reader}
        """,
    )
    program.compilation = replace(program.compilation, platform=platform)
    causes = list(converted_inputs(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named


@pytest.mark.parametrize(
    ("opcode", "old", "named"),
    [
        ("concatenate", "f32[31,32]", ["new"]),
        ("concatenate", "f32[16,32]", []),  # as much is new as old
        ("concatenate", "f32[31,31]", []),  # no row was added
        ("concatenate", "s32[31,32]", []),
        ("negate", "f32[31,32]", []),
    ],
)
def test_a_result_that_is_an_input_with_more_rows_is_named(returning, opcode, old, named):
    program = returning(
        f"""
        0 | 4096 | parameter 0, shape |{old}| at ShapeIndex {{}}
        1 | 4096 | maybe-live-out
        """,
        f"""
        0 | old | {old}      | 0 | 3968 | 0-1 | parameter(0) | cache @ f.py:2
        1 | new | f32[32,32] | 0 | 4096 | 1-1 | {opcode}(old)
        """,
        "new",
    )
    causes = list(grown_inputs(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named
    if named:
        assert str(causes[0].rows[0]["reason"]).startswith("cache with 1 more")


SLICED = """HloModule m

ENTRY e {{
  data = f32[64,16]{{1,0}} parameter(0)
  i = s32[] parameter(1)
  batch = f32[{rows},16]{{1,0}} dynamic-slice(data, i, i), dynamic_slice_sizes={{{rows},16}}
  loss = f32[] reduce(batch, i), dimensions={{0,1}}
  rest = f32[64,16]{{1,0}} {other}
  ROOT r = (f32[]) tuple(loss)
}}
"""


@pytest.mark.parametrize(
    ("rows", "other", "part"),
    [
        (8, "iota()", Fraction(1, 8)),
        (32, "iota()", None),
        (8, "negate(data)", None),
        (8, "partition-id()", None),  # each device takes a slice of its own
    ],
)
def test_an_input_of_which_only_a_slice_is_read_is_named(programs, rows, other, part):
    program = programs(
        """
        0 | 4096 | parameter 0, shape |f32[64,16]| at ShapeIndex {}
        1 | 4    | parameter 1, shape |s32[]| at ShapeIndex {}
        2 | 8192 | preallocated-temp
        """,
        f"""
        0 | data  | f32[64,16]     | 0    | 4096 | 0-5 | parameter(0)
        1 | i     | s32[]          | 0    | 4    | 0-5 | parameter(1)
        2 | batch | f32[{rows},16] | 0    | 2048 | 2-3 | dynamic-slice(data, i)
        2 | loss  | f32[]          | 2048 | 4    | 3-4 | reduce(batch)
        2 | rest  | f32[64,16]     | 4096 | 4096 | 4-4 | {other}
        """,
    )
    program.stored.operations = operations_of_text(SLICED.format(rows=rows, other=other))
    causes = list(sliced_inputs(program))
    kept = [cause.edit.kept_by_label for cause in causes if isinstance(cause.edit, Scale)]
    assert kept == ([{"data": part}] if part else [])
