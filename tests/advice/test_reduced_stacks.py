"""`advise` names stacks of loops of which only a part or a reduction is read."""

from dataclasses import replace

import pytest

from tests.advice.small_compilations import as_stack, share_one_buffer_set, with_dependences
from xlagraph.advice.causes.reduced_stacks import reduced_stacks
from xlagraph.planner.dimensions.module_operations import ArrayShape, OperandName, Operation
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.planner.edits.resizing import Remove


@pytest.mark.parametrize(
    ("gradient", "removed"),
    [
        pytest.param("pad(s)", {"s", "g"}, id="of a part"),
        pytest.param("multiply(s)", {"g"}, id="of all, so that the loop stacks it for this"),
    ],
)
def test_a_stack_of_which_a_part_is_read_is_removed_with_its_gradient(programs, gradient, removed):
    program = programs(
        "0 | 12288 | preallocated-temp",
        f"""
        0 | loop | s32[]      | 0    | 4    | 0-1 | iota()
        0 | s    | f32[64,16] | 4096 | 4096 | 1-4 | fusion(loop)
        0 | part | f32[16]    | 64   | 64   | 2-3 | slice(s) | jit(f)/jvp()/slice @ f.py:9
        0 | g    | f32[64,16] | 8192 | 4096 | 3-5 | {gradient} | jit(f)/transpose(jvp())/mul
        0 | back | f32[16]    | 128  | 64   | 5-5 | fusion(g)
        """,
    )
    as_stack(program, "s")
    back = program.instructions["back"]._replace(loop="other")
    program.instructions |= {"back": back}
    (cause,) = reduced_stacks(program)
    assert isinstance(cause.edit, Remove)
    assert set(cause.edit.patterns) == removed
    assert str(cause.rows[0]["reason"]).startswith("f.py:9 reads a part or a reduction")


@pytest.mark.parametrize(("first", "count"), [("broadcast()", 1), ("dot()", 0)])
def test_what_reads_the_zeros_with_which_a_stack_begins_does_not_read_it(programs, first, count):
    program = programs(
        "0 | 16384 | preallocated-temp",
        f"""
        0 | loop  | s32[]      | 0    | 4    | 0-2 | iota()
        0 | zeros | f32[64,16] | 4096 | 4096 | 1-3 | {first}
        0 | other | f32[64,16] | 8192 | 4096 | 2-5 | tanh(zeros)
        0 | s     | f32[64,16] | 4096 | 4096 | 3-4 | fusion(loop, zeros)
        0 | part  | f32[16]    | 64   | 64   | 4-5 | slice(s) | jit(f)/slice @ f.py:9
        0 | last  | f32[64,16] | 4096 | 4096 | 5-5 | negate(other)
        """,
    )
    share_one_buffer_set(program, "zeros", "s")
    as_stack(program, "s")
    assert len(list(reduced_stacks(program))) == count


@pytest.mark.parametrize(
    ("result", "keeps_state", "count"),
    [("part", False, 1), ("copied", False, 0), ("part", True, 0)],
)
def test_a_stack_whose_copy_is_a_result_or_a_state_is_not_named(
    programs, result, keeps_state, count
):
    program = programs(
        """
        0 | 12288 | preallocated-temp
        1 | 4096 | maybe-live-out
        """,
        """
        0 | loop   | s32[]      | 0    | 4    | 0-1 | iota()
        0 | s      | f32[64,16] | 4096 | 4096 | 1-4 | fusion(loop)
        0 | part   | f32[16]    | 64   | 64   | 2-4 | slice(s) | jit(f)/slice @ f.py:9
        1 | copied | f32[64,16] | 0    | 4096 | 3-4 | copy(s)
        """,
    )
    as_stack(program, "s")
    returned = (program.by_label[result].value_id,)
    program.compilation = replace(program.compilation, results=returned)
    for name in ("loop", "part", "copied") if keeps_state else ():  # of a loop around
        program.instructions[name] = program.instructions[name]._replace(loop="around")
    copied = program.by_label["copied"]
    program.compilation.values[copied.value_id] = copied._replace(is_phi=True)
    assert len(list(reduced_stacks(program))) == count


@pytest.mark.parametrize(
    ("reader", "loop", "removed"),
    [
        pytest.param("reduce", None, {"s", "g"}, id="and what sums it next to the stack"),
        pytest.param("negate", None, {"s"}, id="and what needs each part of it"),
        pytest.param("dynamic-slice", "back", {"s", "g"}, id="and a loop that reads its parts"),
        pytest.param("dynamic-slice", None, {"s"}, id="and what reads one part next to the stack"),
    ],
)
def test_a_sum_of_a_stack_is_removed_with_its_gradient_that_repeats_that_of_the_sum(
    programs, reader, loop, removed
):
    length = 1024 if reader == "negate" else 16
    program = programs(
        "0 | 24576 | preallocated-temp",
        f"""
        0 | loop | s32[]      | 0    | 4    | 0-1 | iota()
        0 | s    | f32[64,16] | 4096 | 4096 | 1-3 | fusion(loop)
        0 | sum  | f32[16]    | 64   | 64   | 2-3 | reduce(s) | jit(f)/jvp()/reduce_sum @ f.py:9
        0 | g    | f32[64,16] | 8192 | 4096 | 3-5 | fusion(sum) | jit(f)/transpose(jvp())/mul
        0 | back | f32[16]    | 128  | 64   | 4-5 | while(g)
        0 | r | f32[{length}] | 12288 | {4 * length} | 5-5 | {reader}(g)
        """,
    )
    as_stack(program, "s")
    program.instructions |= {"r": program.instructions["r"]._replace(loop=loop)}
    (cause,) = reduced_stacks(program)
    assert isinstance(cause.edit, Remove)
    assert set(cause.edit.patterns) == removed


@pytest.mark.parametrize(
    ("weights", "made", "result", "found"),
    [
        pytest.param("f32[64]", "iota()", "f32[16]", ["s"], id="a number of each iteration"),
        pytest.param("f32[64]", "dot(loop)", "f32[16]", [], id="numbers that the loop computes"),
        pytest.param("f32[64,4]", "iota()", "f32[4,16]", ["s"], id="numbers of each iteration"),
        pytest.param("f32[16,4]", "iota()", "f32[64,4]", [], id="a matrix of the parts"),
    ],
)
def test_a_product_over_the_iterations_is_a_sum_of_the_stack(
    programs, weights, made, result, found
):
    program = programs(
        "0 | 12288 | preallocated-temp",
        f"""
        0 | loop | s32[]      | 0    | 4    | 0-1 | iota()
        0 | w    | {weights}  | 1024 | 1024 | 0-3 | {made}
        0 | s    | f32[64,16] | 4096 | 4096 | 1-3 | fusion(loop)
        0 | sum  | {result}   | 2048 | 1024 | 2-3 | dot(w, s) | jit(f)/dot_general @ f.py:9
        """,
    )
    with_dependences(program, "loop = iota()", f"w = {made}", "s = fusion(loop)", "sum = dot(w, s)")
    as_stack(program, "s")
    assert [row["value"] for cause in reduced_stacks(program) for row in cause.rows] == found


def test_a_stack_of_an_inner_loop_is_removed_with_its_gradient_outside_of_both(programs):
    program = programs(
        "0 | 24576 | preallocated-temp",
        """
        0 | loop     | s32[]      | 0    | 4    | 0-1 | iota()
        0 | s        | f32[64,16] | 4096 | 4096 | 1-2 | fusion(loop)
        0 | w (phi)  | f32[64,16] | 4096 | 4096 | 2-4 | while(s)
        0 | last     | f32[16]    | 64   | 64   | 3-4 | slice(w) | jit(f)/jvp()/slice @ f.py:9
        0 | g        | f32[64,16] | 8192 | 4096 | 4-5 | fusion(last) | jit(f)/transpose(jvp())/pad
        0 | back     | f32[16]    | 128  | 64   | 5-5 | while(g)
        """,
    )
    share_one_buffer_set(program, "s", "w")
    as_stack(program, "s")
    program.instructions |= {
        "loop": program.instructions["loop"]._replace(loop="w"),
        "s": program.instructions["s"]._replace(loop="loop"),
    }
    (cause,) = reduced_stacks(program)
    assert isinstance(cause.edit, Remove)
    assert set(cause.edit.patterns) == {"s", "w", "g"}


def test_a_stack_is_removed_with_what_a_check_on_the_host_returns_in_its_place(programs):
    program = programs(
        "0 | 12288 | preallocated-temp",
        """
        0 | loop  | s32[]      | 0    | 4    | 0-1 | iota()
        0 | s     | f32[64,16] | 4096 | 4096 | 1-3 | fusion(loop)
        0 | check | f32[64,16] | 8192 | 4096 | 2-4 | custom-call(s)
        0 | part  | f32[16]    | 64   | 64   | 4-4 | slice(check)
        """,
    )
    for label in ("s", "check"):
        stack = program.by_label[label]._replace(stack_loop="loop", stack_turns=64)
        program.compilation.values[stack.value_id] = stack
    check = program.instructions["check"]._replace(target="xla_ffi_python_cpu_callback")
    program.instructions |= {"check": check}
    causes = list(reduced_stacks(program))
    edits = [cause.edit for cause in causes if isinstance(cause.edit, Remove)]
    assert {pattern for edit in edits for pattern in edit.patterns} == {"s", "check"}


@pytest.mark.parametrize(("turns", "named"), [(20, ["s"]), (1, [])])
def test_a_part_of_a_stack_may_be_written_into_a_stack_of_the_loop_around(programs, turns, named):
    program = programs(
        "0 | 131072 | preallocated-temp",
        """
        0 | outer | s32[]      | 0     | 4     | 0-1 | iota()
        0 | s     | f32[10240] | 4096  | 40960 | 1-2 | fusion(outer)
        0 | out   | f32[20480] | 49152 | 81920 | 2-3 | slice(s) | jit(f)/slice @ f.py:9
        """,
    )
    known, values = program.instructions, program.compilation.values
    known["inner"] = known["outer"]._replace(name="inner", opcode="while", loop="outer")
    for label, loop, count in (("s", "inner", 10), ("out", "outer", turns)):
        known[label] = known[label]._replace(loop="outer" if label == "out" else loop)
        value = program.by_label[label]
        values[value.value_id] = value._replace(stack_loop=loop, stack_turns=count)
    found = [row["value"] for cause in reduced_stacks(program) for row in cause.rows]
    assert found == named


@pytest.mark.parametrize(
    ("given", "op", "title"),
    [
        ("8,16", "transpose(jvp())", "Gradients are stacked, although only a part or a reduction"),
        ("8,4", "vmap(transpose(jvp()))", "Gradients are kept for each example"),
        ("8,16", "jvp()", "A loop stacks values of which only a part or a reduction is read"),
        ("16", "transpose(jvp())", "A loop stacks values of which only a part or a reduction"),
    ],
)
def test_stacked_gradients_of_the_parameters_of_a_loop_are_not_summed_in_it(
    programs, given, op, title
):
    shape = "f32[8,2,4]" if given == "8,4" else "f32[8,16]"
    parameter = f"0 | 512 | parameter 0, shape |f32[{given}]| at ShapeIndex {{}}"
    program = programs(
        f"{parameter}\n1 | 4608 | preallocated-temp",
        f"""
        0 | w    | f32[{given}] | 0    | 512 | 0-4 | parameter(0)
        1 | loop | s32[]        | 0    | 4   | 1-2 | iota()
        1 | s    | {shape}      | 4096 | 512 | 2-3 | fusion(loop) | jit(f)/{op}/while/body/mul
        1 | norm | f32[1]       | 64   | 4   | 3-4 | reduce(s) | jit(f)/reduce_sum @ f.py:9
        """,
    )
    as_stack(program, "s", turns=8)
    (cause,) = reduced_stacks(program)
    assert cause.title.startswith(title)


@pytest.mark.parametrize(
    ("after", "named"),
    [pytest.param("", ["s"], id="given"), pytest.param("s", [], id="chosen by what is stacked")],
)
def test_a_stack_of_which_given_rows_are_gathered_is_removed_with_its_gradient(
    programs, after, named
):
    program = programs(
        "0 | 12288 | preallocated-temp",
        f"""
        0 | loop | s32[]      | 0    | 4    | 0-1 | iota()
        0 | s    | f32[64,16] | 4096 | 4096 | 1-3 | fusion(loop)
        0 | rows | s32[4]     | 64   | 16   | 2-4 | iota({after})
        0 | part | f32[4,16]  | 128  | 256  | 3-4 | gather(s, rows) | jit(f)/jvp()/gather @ f.py:9
        0 | g    | f32[64,16] | 8192 | 4096 | 4-5 | scatter(rows) | jit(f)/transpose(jvp())/s @ f.py:9
        0 | back | f32[16]    | 512  | 64   | 5-5 | fusion(g)
        """,  # noqa: E501
    )
    as_stack(program, "s")
    with_dependences(
        program,
        "loop = while()",
        "s = get-tuple-element(loop)",
        "rows = iota({})".format("s" if after else ""),
        "part = gather(s, rows)",
        "g = scatter(rows)",
    )
    program.operations = {
        "s": Operation("s", "get-tuple-element", ArrayShape((64, 16), ()), (), {}, {}),
        "part": Operation(
            "part",
            "gather",
            ArrayShape((4, 16), ()),
            [OperandName("s"), OperandName("rows")],
            {},
            {},
        ),
    }
    causes = list(reduced_stacks(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named
    edits = [cause.edit for cause in causes if isinstance(cause.edit, Remove)]
    assert {pattern for edit in edits for pattern in edit.patterns} == (
        {"s", "g"} if named else set()
    )


@pytest.mark.parametrize(
    ("opcodes", "found"), [(("multiply", "reduce"), ["s"]), (("multiply", "slice"), [])]
)
def test_a_fused_optimizer_makes_several_values_of_the_sum_of_a_stack(programs, opcodes, found):
    program = programs(
        "0 | 12288 | preallocated-temp",
        """
        0 | loop   | s32[]      | 0    | 4    | 0-1 | iota()
        0 | s      | f32[4,256] | 4096 | 4096 | 1-3 | fusion(loop)
        0 | new{0} | f32[256]   | 1024 | 1024 | 2-3 | fusion(s) | jit(f)/add @ f.py:9
        0 | new{1} | f32[256]   | 2048 | 1024 | 2-3 | fusion(s) | jit(f)/add @ f.py:9
        0 | new{2} | f32[256]   | 8192 | 1024 | 2-3 | fusion(s) | jit(f)/add @ f.py:9
        """,
    )
    program.instructions["new"] = program.instructions["new"]._replace(fused_opcodes=opcodes)
    as_stack(program, "s", turns=4)
    assert [row["value"] for cause in reduced_stacks(program) for row in cause.rows] == found


@pytest.mark.parametrize(("count", "found"), [(2, ["s"]), (3, [])])
def test_short_results_of_most_parts_of_a_stack_read_most_of_it(programs, count, found):
    reads = "".join(
        f"0 | r{n} | f32[16] | {64 * n} | 64 | 2-6 | fusion(s) | jit(f)/slice @ f.py:9\n"
        for n in range(count)
    )
    program = programs(
        "0 | 12288 | preallocated-temp",
        f"""
        0 | loop | s32[]      | 512  | 4    | 0-1 | iota()
        0 | s    | f32[4,256] | 4096 | 4096 | 1-3 | fusion(loop)
        {reads}
        0 | x    | f32[16]    | 1024 | 64   | 4-4 | iota()
        0 | y    | f32[16]    | 1088 | 64   | 5-6 | add({", ".join(f"r{n}" for n in range(count))})
        """,
    )
    as_stack(program, "s", turns=4)
    known, fused = program.instructions, ""
    for n in range(count):
        known[f"r{n}"] = known[f"r{n}"]._replace(fused_opcodes=("slice", "multiply"))
        fused += f"""
%take{n} (p: f32[4,256]) -> f32[16] {{
  %p = f32[4,256]{{1,0}} parameter(0)
  ROOT %part = f32[1,16]{{1,0}} slice(%p), slice={{[{n}:{n + 1}], [0:16]}}
}}
"""
    calls = "\n".join(
        f"  %r{n} = f32[16]{{0}} fusion(%s), kind=kLoop, calls=%take{n}" for n in range(count)
    )
    program.stored.operations = operations_of_text(
        f"HloModule jit_f\n{fused}\nENTRY %main (s: f32[4,256]) -> f32[16] {{\n"
        f"  %s = f32[4,256]{{1,0}} parameter(0)\n{calls}\n}}\n"
    )
    program.obstacle = None
    assert [row["value"] for cause in reduced_stacks(program) for row in cause.rows] == found
