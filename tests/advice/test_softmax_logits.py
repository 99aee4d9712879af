"""`advise` names logits of a large vocabulary: products with a table that a softmax reduces."""

from dataclasses import replace

import pytest

from tests.advice.small_compilations import share_one_buffer_set, with_results
from xlagraph.advice.causes.softmax_logits import logits
from xlagraph.planner.dimensions.stored_operations import operations_of_text

GRADIENT = (
    "\n        1 | grad  | s8[8192,16] | 0 | 131072 | 4-4 | dot(exp) | jit(f)/jit(main)/transpose"
)
"""The gradient of the table, named as JAX before 0.7 does: without `transpose(jvp())`."""
TORCH = GRADIENT.replace("jit(f)/jit(main)/transpose", "aten__mm")
TORCH += TORCH.replace("grad", "new") + TORCH.replace("grad", "step")
SELECTED = "\n        1 | onehot | s8[16,8192] | 0 | 131072 | 4-4 | compare(sum)"
"""Which words are labels, as a loss of an alignment (CTC) multiplies logarithms by."""
GRADIENT_OF_ROWS = (
    "\n        1 | back | s8[64,8192] | 0 | 524288 | 4-4 | multiply(exp, sum) | jit(f)/"
    "transpose(jvp(jit(log_softmax)))/mul"
    "\n        1 | rows | s8[64,16] | 0 | 64 | 5-5 | dot(back, table) | jit(f)/dot_general"
)
"""The gradient of what is multiplied with the table, named as JAX before 0.7 does."""


def softmax(programs, opcode="exponential", *, reduced=None, read="all, max", width=16, **known):
    loop, tokens, factors = (known.get(each) for each in ("loop", "tokens", "factors"))
    tokens, factors = tokens or 64, factors or "table"
    reduced = reduced or f"s8[{tokens}]"
    texts = (
        f"""
        0 | 131072 | parameter 0, shape |s8[8192,16]| at ShapeIndex {{}}
        1 | 1048640 | preallocated-temp
        2 | 64 | maybe-live-out
        3 | {8192 * width} | parameter 1, shape |s8[8192,{width}]| at ShapeIndex {{}}
        """,
        f"""
        3 | embed | s8[8192,{width}] | 0 | {8192 * width} | 0-5 | parameter(1)
        0 | table | s8[8192,16] | 0       | 131072 | 0-5 | parameter(0)
        1 | all   | s8[{tokens},8192] | 0 | {tokens * 8192} | 1-3 | dot({factors})
        1 | max   | {reduced}   | 1048576 | 64     | 2-3 | reduce(all) | jit(f)/reduce_max @ f.py:8
        1 | exp   | s8[{tokens},8192] | 524288 | {tokens * 8192} | 3-4 | {opcode}({read})
        2 | sum   | {reduced}   | 0       | 64     | 4-5 | reduce(exp) | jit(f)/reduce_sum @ f.py:8
        1 | mixed | s8[{tokens},16] | 1048576 | 64 | 4-5 | {known.get("mixed", "dot(sum)")}
        """,
    )
    program = programs(*(each.replace("8192", known.get("words", "8192")) for each in texts))
    with_results(program, "sum")
    for name in ("sum", *known.get("inside", ())):
        program.instructions[name] = program.instructions[name]._replace(loop=loop)
    return list(logits(program))


@pytest.mark.parametrize(("width", "words"), [(8, "8192"), (32, "8192"), (8, "256")])
def test_logits_are_products_with_a_table_whose_exponentials_are_summed(programs, width, words):
    (cause,) = softmax(programs, width=width, words=words)
    reason = f"64 × {words} products with table, which f.py:8 reduces"
    assert [(row["value"], row["reason"]) for row in cause.rows] == [
        ("all", reason),
        ("exp", reason),
    ]


def test_values_whose_sums_of_rows_the_logits_need_belong_to_them(programs):
    """The gradient of a one-hot target is one-hot, too; `other` is added to nothing."""
    program = programs(
        """
        0 | 131072 | parameter 0, shape |s8[8192,16]| at ShapeIndex {}
        1 | 2097280 | preallocated-temp
        """,
        """
        0 | table  | s8[8192,16] | 0       | 131072 | 0-7 | parameter(0)
        1 | all    | s8[64,8192] | 0       | 524288 | 1-4 | dot(table)
        1 | max    | s8[64]      | 2097152 | 64     | 2-4 | reduce(all) | jit(f)/reduce_max @ f.py:8
        1 | onehot | s8[64,8192] | 524288  | 524288 | 2-6 | iota()
        1 | other  | s8[64,8192] | 1048576 | 524288 | 3-7 | iota()
        1 | count  | s8[64]      | 2097216 | 64     | 3-4 | reduce(onehot)
        1 | exp    | s8[64,8192] | 1572864 | 524288 | 4-6 | exponential(all, max, count)
        1 | sum    | s8[64]      | 2097152 | 64     | 5-7 | reduce(exp) | jit(f)/sum @ f.py:8
        """,
    )
    with_results(program, "sum")
    (cause,) = logits(program)
    assert {row["value"] for row in cause.rows} == {"all", "exp", "onehot"}


@pytest.mark.parametrize(
    ("ids", "named"),
    [("reduce(all, noise)", {"all", "exp", "noise"}), ("reduce(noise)", {"all", "exp"})],
)
def test_what_is_reduced_with_the_logits_belongs_to_them(programs, ids, named):
    """A sample is the word with the largest sum of its logit and of its noise."""
    noise = "\n        1 | noise | s8[64,8192] | 0 | 524288 | 3-5 | iota()"
    mixed = f"dot(sum){noise}\n        1 | ids | s8[64] | 0 | 64 | 5-5 | {ids}"
    (cause,) = softmax(programs, mixed=mixed)
    assert {row["value"] for row in cause.rows} == named


@pytest.mark.parametrize(
    ("mixed", "what"),
    [
        ("dot(exp, table)", "Weights of all rows of a table are computed for all inputs"),
        ("dot(exp, embed)", "Weights of all rows of a table are computed for all inputs"),
        ("tanh(exp)", "Logits of a large vocabulary are computed for all tokens"),
        (
            f"tanh(exp){GRADIENT_OF_ROWS}",
            "Logits of a large vocabulary are computed for all tokens",
        ),
        (f"dot(exp, onehot){SELECTED}", "Logits of a large vocabulary are computed for all tokens"),
        (f"dot(exp, table){GRADIENT}", "Logits of a large vocabulary are computed for all tokens"),
        (f"dot(exp, table){TORCH}", "Logits of a large vocabulary are computed for all tokens"),
    ],
)
def test_a_softmax_whose_rows_a_product_adds_up_mixes_them(programs, mixed, what):
    (cause,) = softmax(programs, mixed=mixed)
    assert cause.title == f"{what} at once"


@pytest.mark.parametrize(
    "changed",
    [
        {"opcode": "tanh"},
        {"reduced": "s8[32]"},
        {"reduced": "s8[8192]"},  # sums over the rows
        {"read": "all"},  # as the sum of a softplus of each element
        {"tokens": 32},  # one for each sequence, as in a step of decoding
        {"factors": "embed, table"},  # points
        {"words": "128"},
    ],
)
def test_products_without_a_softmax_are_not_logits(programs, changed):
    assert softmax(programs, **changed) == []


def test_an_iteration_that_sums_exponentials_again_is_no_softmax_over_words(programs):
    assert softmax(programs, loop="while") == []


@pytest.mark.parametrize(("hidden", "is_named"), [((), False), (("exp",), True)])
def test_equal_products_of_all_iterations_are_no_logits(programs, hidden, is_named):
    """Each iteration of Sinkhorn's may compute all costs again, which it does not change."""
    inside = ("all", "max", *hidden)
    found = softmax(programs, loop="while", inside=inside, factors="table, exp")
    assert bool(found) is is_named


def test_logits_with_a_queue_are_joined_with_the_score_of_the_right_pair(programs):
    program = programs(
        """
        0 | 131072 | parameter 0, shape |s8[8192,16]| at ShapeIndex {}
        1 | 1572992 | preallocated-temp
        2 | 64 | maybe-live-out
        """,
        """
        0 | queue | s8[8192,16] | 0       | 131072 | 0-6 | parameter(0)
        1 | all   | s8[64,8192] | 0       | 524288 | 1-2 | dot(queue)
        1 | join  | s8[64,8193] | 524288  | 524352 | 2-4 | concatenate(all)
        1 | max   | s8[64]      | 1572928 | 64     | 3-4 | reduce(join) | jit(f)/reduce_max @ f.py:8
        1 | exp   | s8[64,8193] | 1048640 | 524288 | 4-5 | exponential(join, max)
        2 | sum   | s8[64]      | 0       | 64     | 5-6 | reduce(exp) | jit(f)/reduce_sum @ f.py:8
        """,
    )
    with_results(program, "sum")
    (cause,) = logits(program)
    assert {row["value"] for row in cause.rows} == {"all", "join", "exp"}
    assert cause.rows[0]["reason"] == "64 × 8193 products with queue, which f.py:8 reduces"


def test_a_sum_of_exponentials_is_read_with_the_rows_through_values_of_each_row(programs):
    program = programs(
        """
        0 | 131072 | parameter 0, shape |s8[8192,16]| at ShapeIndex {}
        1 | 131072 | parameter 1, shape |s8[8192,16]| at ShapeIndex {}
        2 | 1572992 | preallocated-temp
        """,
        """
        0 | head  | s8[8192,16] | 0       | 131072 | 0-6 | parameter(0)
        1 | state | s8[8192,16] | 0       | 131072 | 0-6 | parameter(1)
        2 | rows  | s8[64,8192] | 0       | 524288 | 1-3 | dot(head)
        2 | exp   | s8[64,8192] | 524288  | 524288 | 2-5 | exponential(rows)
        2 | sum   | s8[64]      | 1572864 | 64     | 3-4 | reduce(exp) | jit(f)/sum @ f.py:8
        2 | share | s8[64]      | 1572928 | 64     | 4-5 | negate(sum)
        2 | grad  | s8[64,8192] | 1048576 | 524288 | 5-6 | multiply(exp, share)
        """,
    )
    (cause,) = logits(program)
    assert {row["value"] for row in cause.rows} == {"rows", "exp", "grad"}
    assert cause.rows[0]["reason"] == "64 × 8192 products with head, which f.py:8 reduces"


@pytest.mark.parametrize("read", ["r", "h"])
def test_logits_of_which_a_slice_of_the_rows_is_read_count_with_their_padded_gradient(
    programs, read
):
    program = programs(
        """
        0 | 131072 | parameter 0, shape |s8[8192,16]| at ShapeIndex {}
        1 | 2621440 | preallocated-temp
        """,
        """
        0 | head  | s8[8192,16] | 0       | 131072 | 0-7 | parameter(0)
        1 | rows  | s8[80,8192] | 0       | 655360 | 1-4 | dot(head)
        1 | max   | s8[72]      | 2555904 | 72     | 2-4 | reduce(rows) | jit(f)/max @ f.py:8
        1 | exp   | s8[72,8192] | 655360  | 589824 | 3-6 | fusion(rows, max)
        1 | sum   | s8[72]      | 2556928 | 72     | 4-6 | reduce(exp) | jit(f)/sum @ f.py:8
        1 | grad  | s8[72,8192] | 1310720 | 589824 | 5-7 | multiply(exp, sum)
        1 | all   | s8[80,8192] | 1900544 | 655360 | 6-7 | pad(grad)
        """,
    )
    made = program.instructions["exp"]._replace(fused_opcodes=("slice", "exponential"))
    program.instructions |= {"exp": made}
    program.stored.operations = operations_of_text(f"""HloModule jit_f

%sliced (r: s8[80,8192], m: s8[72]) -> s8[72,8192] {{
  %r = s8[80,8192]{{1,0}} parameter(0)
  %m = s8[72]{{0}} parameter(1)
  %h = s8[96,8192]{{1,0}} concatenate(%r, %r), dimensions={{0}}
  %s = s8[72,8192]{{1,0}} slice(%{read}), slice={{[8:80], [0:8192]}}
  %b = s8[72,8192]{{1,0}} broadcast(%m), dimensions={{0}}
  %d = s8[72,8192]{{1,0}} subtract(%s, %b)
  ROOT %e = s8[72,8192]{{1,0}} exponential(%d)
}}

ENTRY %main (rows: s8[80,8192], max: s8[72]) -> s8[72,8192] {{
  %rows = s8[80,8192]{{1,0}} parameter(0)
  %max = s8[72]{{0}} parameter(1)
  %exp = s8[72,8192]{{1,0}} fusion(%rows, %max), kind=kLoop, calls=%sliced
  %sum = s8[72]{{0}} reduce(%exp, %max), dimensions={{1}}, to_apply=%add
  ROOT %grad = s8[72,8192]{{1,0}} multiply(%exp, %sum)
}}
""")
    (*causes,) = logits(program)
    if read == "h":  # of an array that is larger than the logits
        assert causes == []
        return
    (cause,) = causes
    assert {row["value"] for row in cause.rows} == {"rows", "exp", "grad", "all"}
    assert cause.rows[0]["reason"] == "72 × 8192 products with head, which f.py:8 reduces"


def test_logits_that_a_loop_stacks_are_logits_of_all_steps(programs):
    program = programs(
        """
        0 | 131072 | parameter 0, shape |s8[8192,16]| at ShapeIndex {}
        1 | 1343744 | preallocated-temp
        """,
        """
        0 | head  | s8[8192,16]  | 0       | 131072 | 0-7 | parameter(0)
        1 | one   | s8[4,8192]   | 0       | 32768  | 1-2 | dot(head)
        1 | put   | s8[20,4,8192] | 32768  | 655360 | 1-3 | dynamic-update-slice(one)
        1 | all   | s8[20,4,8192] | 32768  | 655360 | 3-5 | while()
        1 | max   | s8[20,4]      | 1343488 | 80    | 4-5 | reduce(all) | jit(f)/max @ f.py:8
        1 | exp   | s8[20,4,8192] | 688128 | 655360 | 5-7 | exponential(all, max)
        1 | sum   | s8[20,4]      | 1343616 | 80    | 6-7 | reduce(exp) | jit(f)/sum @ f.py:8
        """,
    )
    share_one_buffer_set(program, "put", "all")
    for name in ("one", "put"):
        known = program.instructions[name]._replace(loop="all")
        program.instructions |= {name: known}
    stack = program.by_label["put"]
    values = {
        **program.compilation.values,
        stack.value_id: stack._replace(stack_loop="all", stack_turns=20),
    }
    in_body = [
        each._replace(computation="body", is_in_entry=False) if each.value_id in (1, 2) else each
        for each in program.program.values
    ]
    planned = replace(program.program, values=tuple(in_body))
    program.compilation = replace(program.compilation, values=values, program=planned)
    (cause,) = logits(program)
    assert {row["value"] for row in cause.rows} == {"one", "put", "exp"}
    assert cause.rows[0]["reason"] == "80 × 8192 products with head, which f.py:8 reduces"
    # parts of what reads the stack would leave the stack
    assert cause.remedies["jax"].startswith("Return from the body of jax.lax.scan what")


@pytest.mark.parametrize(("partial", "is_named"), [(128, True), (4096, False)])
def test_a_gpu_reduces_long_rows_in_two_steps(programs, partial, is_named):
    program = programs(
        """
        0 | 131072 | parameter 0, shape |s8[8192,16]| at ShapeIndex {}
        1 | 1310912 | preallocated-temp
        """,
        f"""
        0 | head  | s8[8192,16]      | 0       | 131072       | 0-6 | parameter(0)
        1 | rows  | s8[64,8192]      | 0       | 524288       | 1-5 | dot(head)
        1 | part  | s8[64,{partial}] | 1048576 | {64 * partial} | 2-3 | fusion(rows)
        1 | sum   | s8[64]           | 1310720 | 64           | 3-4 | reduce(part)
        1 | share | s8[64]           | 1310784 | 64           | 4-5 | negate(sum)
        1 | grad  | s8[64,8192]      | 524288  | 524288       | 5-6 | multiply(rows, share)
        """,
    )
    summed = program.instructions["part"]._replace(fused_opcodes=("exponential", "reduce"))
    program.instructions |= {"part": summed}
    assert bool(list(logits(program))) == is_named


def test_logits_are_made_in_two_types_at_once(programs):
    program = programs(
        """
        0 | 131072 | parameter 0, shape |s8[8192,16]| at ShapeIndex {}
        1 | 2621504 | preallocated-temp
        """,
        """
        0 | head  | s8[8192,16]  | 0       | 131072  | 0-6 | parameter(0)
        1 | wide  | s16[64,8192] | 0       | 1048576 | 1-6 | fusion(head)
        1 | rows  | s8[64,8192]  | 1048576 | 524288  | 2-4 | fusion(head)
        1 | exp   | s8[64,8192]  | 1572864 | 524288  | 3-6 | exponential(rows)
        1 | sum   | s8[64]       | 2621440 | 64      | 4-6 | reduce(exp)
        1 | share | s8[64,8192]  | 2097152 | 524288  | 5-6 | divide(exp, sum)
        """,
    )
    made = program.instructions["rows"]._replace(fused_opcodes=("convert", "dot"))
    program.instructions |= {"rows": made}
    wide = program.by_label["wide"]._replace(name="rows")  # the other result of one fusion
    values = program.values | {wide.value_id: wide}
    program.compilation = replace(program.compilation, values=values)
    (cause,) = logits(program)
    assert {"wide", "rows"} <= {row["value"] for row in cause.rows}


@pytest.mark.parametrize(("summed", "is_named"), [("e", True), ("s", False)])
def test_a_sum_of_a_sigmoid_for_a_bias_is_no_softmax(programs, summed, is_named):
    program = programs(
        """
        0 | 131072 | parameter 0, shape |s8[8192,16]| at ShapeIndex {}
        1 | 1048704 | preallocated-temp
        """,
        """
        0 | edges | s8[8192,16] | 0       | 131072 | 0-4 | parameter(0)
        1 | rows  | s8[64,8192] | 0       | 524288 | 1-4 | dot(edges)
        1 | bias  | s8[64]      | 1048576 | 64     | 2-3 | fusion(rows)
        1 | next  | s8[64,8192] | 524288  | 524288 | 3-4 | multiply(rows, bias)
        """,
    )
    fused = program.instructions["bias"]._replace(fused_opcodes=("exponential", "add", "reduce"))
    program.instructions |= {"bias": fused}
    program.stored.operations = operations_of_text(f"""HloModule jit_f

%summed (p: f32[64,8192]) -> f32[64] {{
  %p = f32[64,8192]{{1,0}} parameter(0)
  %e = f32[64,8192]{{1,0}} exponential(%p)
  %s = f32[64,8192]{{1,0}} add(%e, %p)
  ROOT %r = f32[64]{{0}} reduce(%{summed}, %p), dimensions={{1}}, to_apply=%add
}}

ENTRY %main (rows: f32[64,8192]) -> f32[64] {{
  %rows = f32[64,8192]{{1,0}} parameter(0)
  ROOT %bias = f32[64]{{0}} fusion(%rows), kind=kLoop, calls=%summed
}}
""")
    assert bool(list(logits(program))) == is_named


@pytest.mark.parametrize(
    ("kernel", "loop", "reduced", "named"),
    [
        (("dot", "reduce", "subtract"), None, "d", ["rows"]),
        (("dot", "reduce", "subtract"), None, "h", []),  # distances of points
        (("dot", "subtract"), None, "d", []),
        (("dot", "reduce", "subtract"), "while", "d", []),  # the logits of a part already
    ],
)
def test_a_kernel_may_subtract_the_maximum_of_each_row_from_its_product(
    programs, kernel, loop, reduced, named
):
    program = programs(
        """
        0 | 131072 | parameter 0, shape |s8[8192,16]| at ShapeIndex {}
        1 | 524352 | preallocated-temp
        """,
        """
        0 | head | s8[8192,16] | 0      | 131072 | 0-3 | parameter(0)
        1 | rows | s8[64,8192] | 0      | 524288 | 1-2 | fusion(head)
        1 | sum  | s8[64]      | 524288 | 64     | 2-3 | fusion(rows)
        """,
    )
    made = program.instructions["rows"]._replace(fused_opcodes=kernel, loop=loop)
    summed = program.instructions["sum"]._replace(fused_opcodes=("exponential", "reduce"))
    program.instructions |= {"rows": made, "sum": summed}
    program.stored.operations = operations_of_text(f"""HloModule jit_f

%kernel (h: s8[8192,16]) -> s8[64,8192] {{
  %h = s8[8192,16]{{1,0}} parameter(0)
  %d = s8[64,8192]{{1,0}} dot(%h, %h)
  %m = s8[64]{{0}} reduce(%{reduced}, %h), dimensions={{1}}, to_apply=%max
  %b = s8[64,8192]{{1,0}} broadcast(%m), dimensions={{0}}
  ROOT %s = s8[64,8192]{{1,0}} subtract(%d, %b)
}}

ENTRY %main (head: s8[8192,16]) -> s8[64,8192] {{
  %head = s8[8192,16]{{1,0}} parameter(0)
  ROOT %rows = s8[64,8192]{{1,0}} fusion(%head), kind=kCustom, calls=%kernel
}}
""")
    assert [row["value"] for cause in logits(program) for row in cause.rows] == named
