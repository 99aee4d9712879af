"""`advise` names arrays that are repeated before the loop that could repeat them."""

import pytest

from xlagraph.advice.causes.repeated_before_loops import repeated_before_loops
from xlagraph.planner.edits.resizing import Remove

PLAN = (
    "0 | 64 | parameter 0, shape |f32[16]| at ShapeIndex {}\n1 | 8192 | preallocated-temp",
    """
    0 | table | f32[16]    | 0    | 64   | 0-4 | parameter(0)
    1 | rows  | f32[64,16] | 0    | 4096 | 1-4 | broadcast(table) | jit(f)/tile @ train.py:3
    1 | sum   | f32[64,16] | 4096 | 4096 | 2-3 | fusion({})       | jit(f)/while/add @ train.py:6
    1 | last  | f32[16]    | 4096 | 64   | 4-4 | reduce({})
    """,
)


def program_of(programs, *, read="rows", last="table", opcodes=("add",), maker=("broadcast",)):
    program = programs(PLAN[0], PLAN[1].format(read, last))
    known = program.instructions
    known["rows"] = known["rows"]._replace(opcode="fusion", fused_opcodes=maker)
    known["sum"] = known["sum"]._replace(loop="while.1", fused_opcodes=opcodes)
    known["while.1"] = known["last"]._replace(name="while.1", opcode="while", source_line=5)
    known["while.1"] = known["while.1"]._replace(source_file="train.py")
    return program


def test_what_only_a_loop_reads_is_named_with_the_loop(programs):
    (cause,) = repeated_before_loops(program_of(programs))
    (row,) = cause.rows
    assert row["value"] == "rows"
    assert row["reason"] == (
        "repeated before the loop at train.py:5, whose iterations could repeat it"
    )
    assert isinstance(cause.edit, Remove)
    assert cause.edit.patterns == ("rows",)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"opcodes": ("dot",)}, id="a product reads it as it is"),
        pytest.param({"last": "rows"}, id="read after the loop, too"),
        pytest.param({"maker": ("broadcast", "exponential")}, id="computed once, not repeated"),
        pytest.param({"maker": ("iota",)}, id="nothing is repeated"),
    ],
)
def test_what_the_body_needs_stored_is_not_named(programs, changes):
    assert not list(repeated_before_loops(program_of(programs, **changes)))


def test_a_repeated_number_is_not_named(programs):
    plan = [each.replace("f32[16] ", "f32[]   ").replace("f32[16]|", "f32[]|") for each in PLAN]
    program = program_of(lambda *_: programs(plan[0], plan[1].format("rows", "table")))
    assert not list(repeated_before_loops(program))
