"""`advise` names values of equal parts that are all kept until one instruction adds them up."""

import pytest

from tests.advice.small_compilations import with_dependences
from xlagraph.advice.causes.added_values import added_values
from xlagraph.planner.edits.resizing import Remove

PARTS = 4
ALLOCATIONS = """
0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
1 | 16384 | preallocated-temp
2 | 4096 | maybe-live-out
"""
MADE = "\n".join(
    f"1 | p{part} | f32[1024] | {4096 * part} | 4096 | {part}-4 | tanh(x) | jit(f)/tanh @ f.py:3"
    for part in range(PARTS)
)
VALUES = f"""
0 | x   | f32[1024] | 0 | 4096 | 0-5 | parameter(0)
{MADE}
2 | sum | f32[1024] | 0 | 4096 | 4-5 | {{opcode}}(p0, p1, p2, p3) | jit(f)/add @ f.py:5
"""


@pytest.mark.parametrize(
    ("opcode", "chain", "named"),
    [
        ("add", False, ["p1", "p2", "p3"]),
        pytest.param("add", True, [], id="each part is computed from the one before"),
        pytest.param("multiply", False, [], id="a product"),
    ],
)
def test_a_list_that_is_added_up_is_named(programs, opcode, chain, named):
    program = programs(ALLOCATIONS, VALUES.format(opcode=opcode))
    parts = [
        f"p{part} = tanh({f'p{part - 1}' if chain and part else 'x'})" for part in range(PARTS)
    ]
    with_dependences(program, "x = parameter()", *parts, f"sum = {opcode}(p0, p1, p2, p3)")
    found = [row["value"] for cause in added_values(program) for row in cause.rows]
    assert found == named


@pytest.mark.parametrize(
    ("shape", "named"),
    [
        pytest.param("f32[1024]", ["p1", "p2", "p3"], id="over the parts"),
        pytest.param("f32[4]", [], id="of each part"),
    ],
)
def test_a_list_that_is_stacked_for_a_reduction_is_removed_with_what_it_is_made_of(
    programs, shape, named
):
    made = "\n".join(
        f"1 | h{part} | f32[1024] | {4096 * part} | 4096 | {part}-4 | tanh(x) | jit(f)/tanh\n"
        f"1 | p{part} | f32[1024] | {16384 + 4096 * part} | 4096 | {part + 4}-9 | sin(h{part})"
        " | jit(f)/sin"
        for part in range(PARTS)
    )
    program = programs(
        ALLOCATIONS.replace("16384", "49152"),
        f"""
        0 | x   | f32[1024]   | 0 | 4096 | 0-10 | parameter(0)
        {made}
        1 | s   | f32[4,1024] | 32768 | 16384 | 8-9 | concatenate(p0, p1, p2, p3)
        2 | sum | {shape} | 0 | 4096 | 9-10 | reduce(s) | jit(f)/reduce_sum @ f.py:5
        """,
    )
    parts = [f"{name}{part} = f(x)" for part in range(PARTS) for name in "hp"]
    with_dependences(
        program, "x = parameter()", *parts, "s = concatenate(p0, p1, p2, p3)", "sum = reduce(s)"
    )
    causes = list(added_values(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named
    edits = [cause.edit for cause in causes]
    removed = {name for edit in edits if isinstance(edit, Remove) for name in edit.patterns}
    assert removed == ({"h1", "h2", "h3", *named, "s"} if named else set())
