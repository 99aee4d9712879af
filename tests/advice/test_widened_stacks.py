"""`advise` names stacks of a loop that hold integers in a wider type."""

import pytest

from tests.advice.small_compilations import as_stack
from xlagraph.advice.causes.widened_stacks import widened_stacks
from xlagraph.planner.dimensions.stored_operations import operations_of_text

WRITE = """
w {{
  s.1 = f32[64,16]{{1,0}} parameter(0)
  i.1 = s32[] parameter(1)
  n.1 = {}[16]{{0}} parameter(2)
  {}
  up = f32[1,16]{{1,0}} bitcast(c)
  z = s32[] constant(0)
  ROOT d = f32[64,16]{{1,0}} dynamic-update-slice(s.1, up, i.1, z)
}}
"""
CONVERT = "c = f32[16]{0} convert(n.1)"
SCALE = """f = f32[16]{0} convert(n.1)
  k = f32[] constant(0.004)
  b = f32[16]{0} broadcast(k), dimensions={}
  c = f32[16]{0} multiply(f, b)"""
WITHIN = """k = u8[] constant(3)
  b = u8[16]{0} broadcast(k), dimensions={}
  a = u8[16]{0} add(n.1, b)
  c = f32[16]{0} convert(a)"""
ADD_COUNTER = """f = f32[16]{0} convert(n.1)
  k = f32[] convert(i.1)
  b = f32[16]{0} broadcast(k), dimensions={}
  c = f32[16]{0} multiply(f, b)"""


def causes(
    programs,
    *,
    narrow="u8",
    step=CONVERT,
    reader=("dynamic-slice", "multiply"),
    loop="f",
    named=frozenset(),
    more="",
):
    size = {"u8": 16, "s16": 32, "bf16": 32, "s32": 64}[narrow]
    program = programs(
        """
        0 | 12288 | preallocated-temp
        1 | 4096 | maybe-live-out
        """,
        f"""
        0 | i   | s32[]        | 0    | 4    | 0-4 | iota()
        0 | n   | {narrow}[16] | 64   | {size} | 0-1 | negate(i)
        0 | old | f32[64,16]   | 4096 | 4096 | 0-1 | broadcast(i)
        0 | s   | f32[64,16]   | 4096 | 4096 | 1-3 | fusion(old, i, n) | jit(f)/{loop}/s @ f.py:8
        1 | row | f32[16]      | 0    | 64   | 3-4 | fusion(s) | jit(f)/mul @ f.py:9
        {more}
        """,
    )
    as_stack(program, "s", loop="while")
    known = program.instructions
    known["row"] = known["row"]._replace(fused_opcodes=reader)
    if more:
        known["all"] = known["all"]._replace(fused_opcodes=("bitcast", "gather"))
    program.stored.operations = operations_of_text(
        "HloModule m\n"
        + WRITE.format(narrow, step)
        + f"""
ENTRY x {{
  i = s32[] parameter(0)
  n = {narrow}[16]{{0}} parameter(1)
  old = f32[64,16]{{1,0}} parameter(2)
  ROOT s = f32[64,16]{{1,0}} fusion(old, i, n), kind=kLoop, calls=w
}}
"""
    )
    return list(widened_stacks(program, named))


@pytest.mark.parametrize(
    ("changes", "saved"),
    [
        pytest.param({}, "3/4", id="bytes"),
        pytest.param({"narrow": "s16"}, "1/2", id="half as wide"),
        pytest.param({"step": SCALE}, "3/4", id="scaled by a constant"),
        pytest.param({"step": WITHIN}, "3/4", id="computed next to the write"),
        pytest.param({"step": ADD_COUNTER}, None, id="computed with another number"),
        pytest.param({"narrow": "s32"}, None, id="as wide"),
        pytest.param({"narrow": "bf16"}, None, id="floats, which compilers widen, too"),
        pytest.param({"reader": ("dot",)}, None, id="a factor, which is converted as a whole"),
        pytest.param({"named": {"s"}}, None, id="that need not be stored"),
        pytest.param({"loop": "transpose(jvp())"}, None, id="of the backward pass"),
    ],
)
def test_stacks_of_converted_integers_are_named(programs, changes, saved):
    found = causes(programs, **changes)
    assert bool(found) == (saved is not None)
    if saved:
        assert found[0].rows[0]["value"] == "s"
        assert {str(1 - each) for each in found[0].edit.kept_by_label.values()} == {saved}


@pytest.mark.parametrize(("other", "named"), [("i", ["s", "all"]), ("old", ["s"])])
def test_what_gathers_all_numbers_of_the_stack_is_narrower_too(programs, other, named):
    shuffled = f"0 | all | f32[64,16] | 8192 | 4096 | 2-3 | fusion(s, {other}) | jit(f)/g @ f.py:7"
    (cause,) = causes(programs, more=shuffled)
    assert [row["value"] for row in cause.rows] == named
