"""The values that an array joins: a concatenation reads them, or updates write them."""

import pytest

from tests.advice.small_compilations import share_one_buffer_set, with_overwrites
from xlagraph.advice.causes.joined_values import joined_values
from xlagraph.advice.causes.peak_values import JOINED_PARTS
from xlagraph.advice.causes.stacked_inputs import stacked_inputs
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.planner.edits.resizing import Remove

UPDATING = ("bitcast", "constant", "dynamic-update-slice")


def updating(programs, *, first=(*UPDATING, "custom-call")):
    """Return a program that writes two inputs into a buffer; it fetches one of them in parts."""
    program = programs(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | parameter 1, shape |f32[1024]| at ShapeIndex {}
        2 | 12288 | preallocated-temp
        3 | 8192 | color 1, preallocated-temp
        """,
        """
        0 | a    | f32[1024]   | 0    | 4096 | 0-8 | parameter(0)
        1 | b    | f32[1024]   | 0    | 4096 | 0-8 | parameter(1)
        3 | l    | f32[512]  | 0    | 2048 | 1-3 | slice(b)
        3 | r    | f32[512]  | 2048 | 2048 | 1-3 | slice(b)
        3 | w    | f32[1024]   | 4096 | 4096 | 2-5 | custom-call(l, r)
        2 | s0   | f32[2,1024] | 0    | 8192 | 3-4 | fusion(a)
        2 | s1   | f32[2,1024] | 0    | 8192 | 4-7 | fusion(s0, w) | jit(f)/stack @ f.py:8
        2 | part | f32[1024]   | 8192 | 4096 | 6-8 | fusion(s1) | jit(f)/while @ f.py:9
        """,
    )
    program.instructions |= {
        "s0": program.instructions["s0"]._replace(fused_opcodes=first),
        "s1": program.instructions["s1"]._replace(fused_opcodes=UPDATING),
        "w": program.instructions["w"]._replace(target=JOINED_PARTS),
        "part": program.instructions["part"]._replace(loop="part"),
    }
    share_one_buffer_set(program, "s0", "s1")
    with_overwrites(program, ("s1", "s0"))
    return program


@pytest.mark.parametrize(
    ("value", "first", "joined"),
    [
        ("s1", (*UPDATING, "custom-call"), {"a", "b"}),
        pytest.param("s0", (*UPDATING, "custom-call"), set(), id="only the first part"),
        pytest.param("s1", UPDATING, set(), id="into an array that has other elements"),
        pytest.param("s1", (*UPDATING, "add"), set(), id="computed elements"),
    ],
)
def test_updates_of_a_new_buffer_join_what_they_write(programs, value, first, joined):
    program = updating(programs, first=first)
    found = joined_values(program, program.by_label[value])
    assert set(found) == {program.by_label[each].value_id for each in joined}


def test_inputs_that_a_tpu_writes_into_a_stack_are_named(programs):
    program = updating(programs)
    program.stored.operations = operations_of_text("""HloModule m

ENTRY x {
  s1 = f32[2,1024]{1,0} parameter(0)
  i = s32[] parameter(1)
  part = f32[1,1024]{1,0} dynamic-slice(s1, i)
}
""")
    (cause,) = stacked_inputs(program)
    assert [row["value"] for row in cause.rows] == ["s1"]
    assert cause.rows[0]["reason"] == "a copy of a and b, of which f.py:9 reads one at a time"
    assert isinstance(cause.edit, Remove)
    assert set(cause.edit.patterns) == {"s0", "s1"}
