"""`advise` names rows that are gathered for every edge although only their sums are needed."""

from fractions import Fraction

import pytest

from tests.advice.small_compilations import with_dependences
from xlagraph.advice.causes.gathered_rows import gathered_rows
from xlagraph.planner.edits.resizing import ComputeInParts

GRAPH = """
0 | h | f32[4,16]    | 0     | 256   | 0-4 | parameter(0)
1 | m | f32[256,16]  | 0     | 16384 | 1-2 | gather(h)    | jit(f)/jvp()/gather @ f.py:4
1 | e | f32[256,16]  | 16384 | 16384 | 2-3 | {maker}(m)   | jit(f)/jvp()/{primitive} @ f.py:5
2 | a | f32[4,16]    | 0     | 256   | 3-4 | scatter(e)   | jit(f)/jvp()/{scatter} @ f.py:6
1 | g | f32[16]      | 32768 | 64    | 4-4 | reduce(h)
"""
ALLOCATIONS = """
0 | 256   | parameter 0, shape |f32[4,16]| at ShapeIndex {}
1 | 32832 | preallocated-temp
2 | 256   | maybe-live-out
"""


@pytest.mark.parametrize(
    ("maker", "primitive", "scatter", "read", "named"),
    [
        ("exponential", "exp", "scatter-add", "e", ["m", "e"]),
        pytest.param("convolution", "dot_general", "scatter-add", "e", ["m", "e"], id="TPU's dot"),
        pytest.param("convolution", "conv", "scatter-add", "e", [], id="rows are mixed"),
        pytest.param("exponential", "exp", "scatter", "e", [], id="rows are written, not added"),
        pytest.param("sort", "sort", "scatter-add", "e", [], id="all rows are needed at once"),
        pytest.param("exponential", "exp", "scatter-add", "", [], id="another row is added"),
    ],
)
def test_gathered_rows_that_are_only_added_are_named(
    programs, maker, primitive, scatter, read, named
):
    program = programs(ALLOCATIONS, GRAPH.format(maker=maker, primitive=primitive, scatter=scatter))
    with_dependences(
        program, "h = parameter()", "m = gather(h)", f"e = {maker}(m)", f"a = scatter({read})"
    )
    causes = list(gathered_rows(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named
    for cause in causes:
        reason = (
            "a row for each of 256 that f.py:4 gathers from 4 rows; f.py:6 adds what is computed"
            " from them to 4 rows"
        )
        assert cause.rows[0]["reason"] == reason
        assert isinstance(cause.edit, ComputeInParts)
        assert set(cause.edit.kept_by_label.values()) == {Fraction(1, 8)}


def test_rows_may_be_in_the_middle_and_the_largest_are_stated(programs):
    values = GRAPH.format(maker="exponential", primitive="exp", scatter="scatter-add")
    values = (
        values.replace("scatter(e)", "scatter(m)")
        .replace("f32[256,16]  | 16384", "f32[4,256,4] | 16384")
        .replace(
            "1 | g",
            "1 | n | f32[256,1] | 32768 | 1024 | 1-2 | gather(h) | jit(f)/gather @ f.py:3\n1 | g",
        )
    )
    program = programs(ALLOCATIONS.replace("32832", "33792"), values)
    read = ("h = parameter()", "n = gather(h)", "m = gather(h)", "e = exponential(m)")
    with_dependences(program, *read, "a = scatter(m)")
    (cause,) = gathered_rows(program)
    assert {row["value"] for row in cause.rows} == {"m", "e", "n"}
    assert "for each of 256 that f.py:4 gathers" in str(cause.rows[0]["reason"])


@pytest.mark.parametrize(("target", "is_named"), [("__cublas$gemm", True), ("topk", False)])
def test_a_library_multiplies_some_rows_as_well(programs, target, is_named):
    values = GRAPH.format(maker="custom-call", primitive="dot_general", scatter="scatter-add")
    program = programs(ALLOCATIONS, values)
    program.instructions["e"] = program.instructions["e"]._replace(target=target)
    with_dependences(
        program, "h = parameter()", "m = gather(h)", "e = custom-call(m)", "a = scatter(e)"
    )
    assert len(list(gathered_rows(program))) == is_named


def test_the_rows_are_those_of_the_table_not_of_a_bias_that_a_fusion_adds(programs):
    values = GRAPH.format(maker="exponential", primitive="exp", scatter="scatter-add")
    bias = "0 | b | f32[16] | 256 | 64 | 0-4 | broadcast()"
    values = bias + values.replace("gather(h)", "fusion(b, h)")
    program = programs(ALLOCATIONS.replace("0 | 256 ", "0 | 320 "), values)
    fusion = program.instructions["m"]
    program.instructions["m"] = fusion._replace(fused_opcodes=("gather", "broadcast", "add"))
    with_dependences(
        program, "h = parameter()", "m = fusion(h)", "e = exponential(m)", "a = scatter(e)"
    )
    (cause,) = gathered_rows(program)
    assert "gathers from 4 rows" in str(cause.rows[0]["reason"])


def test_a_gradient_of_a_table_may_lack_the_mark_of_the_backward_pass(programs):
    values = GRAPH.format(maker="exponential", primitive="exp", scatter="scatter-add")
    values = values.replace("jit(f)/jvp()", "jit(f)/jit(main)")
    read = ("h = parameter()", "m = gather(h)", "e = exponential(m)", "a = scatter(e)")
    program = programs(ALLOCATIONS, values)
    with_dependences(program, *read)
    assert not list(gathered_rows(program))


@pytest.mark.parametrize(
    ("shape", "opcode", "named"),
    [
        ("f32[1024,4]", "tanh", {"m", "t", "e"}),
        ("f32[264,16]", "pad", {"m", "t", "e"}),
        ("f32[264,16]", "tanh", {"m", "e"}),  # no rows of these
    ],
)
def test_rows_are_found_in_other_shapes_between(programs, shape, opcode, named):
    values = GRAPH.format(maker="exponential", primitive="exp", scatter="scatter-add")
    flat = f"1 | t | {shape} | 32832 | 16896 | 2-2 | {opcode}(m) | jit(f)/jvp()/tanh @ f.py:5\n"
    values = values.replace("1 | e |", f"{flat}1 | e |").replace("exponential(m)", "exponential(t)")
    program = programs(ALLOCATIONS.replace("32832", "49728"), values)
    read = ("h = parameter()", "m = gather(h)", f"t = {opcode}(m)", "e = exponential(t)")
    with_dependences(program, *read, "a = scatter(e)")
    (cause,) = gathered_rows(program)
    assert {row["value"] for row in cause.rows} == named


def test_rows_that_the_next_layer_reads_after_the_sums_are_needed(programs):
    values = GRAPH.format(maker="exponential", primitive="exp", scatter="scatter-add").replace(
        "reduce(h)", "reduce(e)"
    )
    program = programs(ALLOCATIONS, values.replace("16384 | 2-3", "16384 | 2-4"))
    read = ("h = parameter()", "m = gather(h)", "e = exponential(m)", "a = scatter(e)")
    with_dependences(program, *read, "g = reduce(e, a)")
    assert list(gathered_rows(program)) == []


def test_rows_that_depend_on_each_other_through_edges_are_not_named(programs):
    program = programs(
        """
    0 | 64    | parameter 0, shape |f32[1,16]| at ShapeIndex {}
    1 | 33280 | preallocated-temp
    2 | 64    | maybe-live-out
    """,
        """
    0 | w | f32[1,16]    | 0     | 64    | 0-5 | parameter(0)
    1 | h | f32[4,16]    | 32768 | 256   | 1-4 | gather(w)      | jit(f)/jvp()/gather @ f.py:3
    1 | m | f32[256,16]  | 0     | 16384 | 2-3 | gather(h)      | jit(f)/jvp()/gather @ f.py:4
    1 | e | f32[256,16]  | 16384 | 16384 | 3-4 | exponential(m) | jit(f)/jvp()/exp @ f.py:5
    1 | a | f32[4,16]    | 33024 | 256   | 4-5 | scatter(e)     | jit(f)/jvp()/scatter-add @ f.py:6
    2 | p | f32[1,16]    | 0     | 64    | 5-5 | scatter(a)     | jit(f)/jvp()/scatter-add @ f.py:7
    """,
    )
    of_nodes = ("w = parameter()", "h = gather(w)", "m = gather(h)", "e = exponential(m)")
    with_dependences(program, *of_nodes, "a = scatter(e)", "p = scatter(a)")
    (cause,) = gathered_rows(program)
    assert {row["value"] for row in cause.rows} == {"m", "e"}


@pytest.mark.parametrize(
    ("gathered", "reading", "named"),
    [
        ("jvp(jvp())", "transpose(jvp(transpose(jvp())))", {"e"}),
        pytest.param("jvp(jvp())", "jvp(transpose(jvp()))", {"m", "e"}, id="of the first gradient"),
        pytest.param("jvp()", "transpose(jvp())", {"m", "e"}, id="of the only gradient"),
    ],
)
def test_a_loop_stacks_the_rows_that_a_gradient_of_a_gradient_reads(
    programs, gathered, reading, named
):
    values = GRAPH.format(maker="exponential", primitive="exp", scatter="scatter-add")
    values = values.replace("jit(f)/jvp()/gather", f"jit(f)/{gathered}/gather")
    values = values.replace("1-2 | gather(h)", "1-4 | gather(h)")
    values = values.replace("4-4 | reduce(h)", f"4-4 | reduce(m) | jit(f)/{reading}/reduce_sum")
    values = values.replace("f32[256,16]  | 16384 | 16384", "f32[256,64] | 16384 | 65536")
    values = values.replace("| 32768 |", "| 81920 |")
    program = programs(ALLOCATIONS.replace("32832", "81984"), values)
    read = ("h = parameter()", "m = gather(h)", "e = exponential(m)")
    with_dependences(program, *read, "a = scatter(e)", "g = reduce(m)")
    (cause,) = gathered_rows(program)
    assert {row["value"] for row in cause.rows} == named
