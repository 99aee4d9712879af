"""`advise` names gradients that wait to be added, if a loop could make them in turn."""

import pytest

from tests.advice.small_compilations import with_dependences, with_results
from xlagraph.advice.causes.added_gradients import added_gradients
from xlagraph.planner.edits.resizing import Remove

ADDED = """
    0 | w | f32[4,8] | 0   | 128 | 0-7 | parameter(0)
    1 | x | f32[4,8] | 384 | 128 | 1-6 | fusion(w) | jit(f)/jvp()/tanh
    1 | y | f32[4,8] | 512 | 128 | 2-6 | fusion(w) | jit(f)/jvp()/{made}
    1 | a | f32[4,8] | 0   | 128 | 3-6 | {gradient}(x) | jit(f)/transpose(jvp())/dot
    1 | b | f32[4,8] | 128 | 128 | 4-6 | {gradient}(x) | jit(f)/transpose(jvp())/dot
    1 | c | f32[4,8] | 256 | 128 | 5-6 | {gradient}(y) | jit(f)/transpose(jvp())/dot
    2 | s | f32[4,8] | 0   | 128 | 6-7 | {opcode}(a, b, c) | jit(f)/{opcode} @ train.py:9
"""


@pytest.mark.parametrize(
    ("gradient", "opcode", "made", "named"),
    [
        ("dot", "add", "tanh", ["b", "c"]),
        ("dot", "concatenate", "tanh", []),
        pytest.param("pad", "add", "tanh", [], id="of parts of the parameter"),
        pytest.param(
            "dot", "add", "mul", [], id="of an outer gradient, which uses w in other ways too"
        ),
    ],
)
def test_gradients_that_wait_to_be_added_are_named_but_one(programs, gradient, opcode, made, named):
    program = programs(
        """
        0 | 128 | parameter 0, shape |f32[4,8]| at ShapeIndex {}
        1 | 640 | preallocated-temp
        2 | 128 | maybe-live-out
        """,
        ADDED.format(gradient=gradient, opcode=opcode, made=made),
    )
    with_results(program, "s")
    found = [row for cause in added_gradients(program) for row in cause.rows]
    assert [row["value"] for row in found] == named
    if named:
        assert str(found[0]["reason"]).endswith("all kept until train.py:9 adds them")


def test_numbers_of_ops_of_tensorflow_do_not_tell_equal_parts_apart(programs):
    program = programs(
        """
        0 | 128 | parameter 0, shape |f32[4,8]| at ShapeIndex {}
        1 | 640 | preallocated-temp
        2 | 128 | maybe-live-out
        """,
        """
        0 | w | f32[4,8] | 0   | 128 | 0-7 | parameter(0)  | XLA_Args
        1 | x | f32[4,8] | 384 | 128 | 1-6 | fusion(w)     | Tanh
        1 | y | f32[4,8] | 512 | 128 | 2-6 | fusion(w)     | Tanh_1
        1 | a | f32[4,8] | 0   | 128 | 3-6 | dot(x)        | gradient_tape/MatMul/MatMul_1
        1 | b | f32[4,8] | 128 | 128 | 4-6 | dot(x)        | gradient_tape/MatMul_1/MatMul_1
        1 | c | f32[4,8] | 256 | 128 | 5-6 | dot(y)        | gradient_tape/MatMul_2/MatMul_1
        2 | s | f32[4,8] | 0   | 128 | 6-7 | add(a, b, c)  | AddN
        """,
    )
    with_results(program, "s")
    assert [row["value"] for each in added_gradients(program) for row in each.rows] == ["b", "c"]


@pytest.mark.parametrize(
    ("opcode", "shape"),
    [
        pytest.param("dot", "f32[4,8]", id="that the backward pass multiplies"),
        pytest.param("fusion", "f32[32]", id="of the shape of an input that is not returned"),
    ],
)
def test_gradients_of_an_activation_are_not_named(programs, opcode, shape):
    product = f"3 | p | {shape} | 0 | 128 | 7-8 | {opcode}(s) | jit(f)/transpose(jvp())/dot"
    program = programs(
        """
        0 | 128 | parameter 0, shape |f32[4,8]| at ShapeIndex {}
        1 | 640 | preallocated-temp
        2 | 128 | preallocated-temp
        3 | 128 | maybe-live-out
        """,
        ADDED.format(gradient="dot", opcode="add", made="tanh") + product,
    )
    with_results(program, "p")
    assert not list(added_gradients(program))


KEYS = "".join(
    f"1 | k{at} | f32[4] | {1328 + 16 * at} | 16 | {at}-11 | fusion() | jit(f)/jvp()/split\n"
    for at in range(1, 7)
)


@pytest.mark.parametrize(
    ("loss", "before", "removed"),
    [
        pytest.param("l = fusion(x)", "", {"b", "c", "y", "z", "e", "f"}, id="of each part"),
        pytest.param("l = fusion(x, y, z)", "", None, id="of all parts, which no loop makes"),
        pytest.param(
            "l = fusion(x, y, z)\nk1 = fusion()"
            + "".join(f"\nk{at + 1} = fusion(k{at})" for at in range(1, 6)),
            "",
            None,
            id="of all parts, beside keys that are split in turn",
        ),
        pytest.param("l = fusion(z)", "y", None, id="of layers, which a loop stacks"),
    ],
)
def test_a_loop_over_parts_of_a_batch_keeps_what_one_of_them_needs(programs, loss, before, removed):
    program = programs(
        """
        0 | 128 | parameter 0, shape |f32[4,8]| at ShapeIndex {}
        1 | 1440 | preallocated-temp
        2 | 128 | maybe-live-out
        """,
        KEYS * ("k1 =" in loss)
        + """
        0 | w | f32[4,8] | 0    | 128 | 0-12 | parameter(0)
        1 | x | f32[4,9] | 0    | 144 | 1-11 | fusion(w) | jit(f)/jvp()/tanh
        1 | y | f32[4,9] | 144  | 144 | 2-11 | fusion(w) | jit(f)/jvp()/tanh
        1 | z | f32[4,9] | 288  | 144 | 3-11 | fusion(w) | jit(f)/jvp()/tanh
        1 | l | f32[9]   | 432  | 36  | 4-11 | fusion(x) | jit(f)/jvp()/sum
        1 | d | f32[4,9] | 512  | 144 | 5-11 | fusion(l) | jit(f)/transpose(jvp())/mul
        1 | e | f32[4,9] | 656  | 144 | 6-11 | fusion(y) | jit(f)/transpose(jvp())/mul
        1 | f | f32[4,9] | 800  | 144 | 7-11 | fusion(z) | jit(f)/transpose(jvp())/mul
        1 | a | f32[4,8] | 944  | 128 | 8-11 | dot(d) | jit(f)/transpose(jvp())/dot
        1 | b | f32[4,8] | 1072 | 128 | 9-11 | dot(e) | jit(f)/transpose(jvp())/dot
        1 | c | f32[4,8] | 1200 | 128 | 10-11 | dot(f) | jit(f)/transpose(jvp())/dot
        2 | s | f32[4,8] | 0    | 128 | 11-12 | add(a, b, c) | jit(f)/add @ train.py:9
        """,
    )
    with_results(program, "s")
    with_dependences(
        program,
        "x = fusion()",
        "y = fusion(x)" if before else "y = fusion()",
        f"z = fusion({before})",
        *loss.splitlines(),
        "d = fusion(x, l)",
        "e = fusion(y, l)" if removed is None else "e = fusion(y)",
        "f = fusion(z, l)" if removed is None else "f = fusion(z)",
        "a = dot(d)",
        "b = dot(e)",
        "c = dot(f)",
        "s = add(a, b, c)",
    )
    edits = [cause.edit for cause in added_gradients(program)]
    found = [set(edit.patterns) for edit in edits if isinstance(edit, Remove)]
    assert found == ([] if removed is None else [removed])


@pytest.mark.parametrize("sum_op", ["jit(f)/fusion", "jit(f)/transpose(jvp())/dot"])
def test_the_last_gradient_may_be_made_and_added_to_the_others_in_one_fusion(programs, sum_op):
    program = programs(
        """
        0 | 128 | parameter 0, shape |f32[4,8]| at ShapeIndex {}
        1 | 896 | preallocated-temp
        2 | 128 | preallocated-temp
        3 | 128 | maybe-live-out
        """,
        ADDED.format(gradient="dot", opcode="fusion", made="tanh")
        .replace("(y)", "(x)")
        .replace("jit(f)/fusion", sum_op)
        + "1 | z | f32[4,8] | 640 | 128 | 2-6 | fusion(w) | jit(f)/jvp()/tanh\n"
        + "1 | t | f32[4,8] | 768 | 128 | 2-6 | fusion(w) | jit(f)/jvp()/tanh\n"
        + "3 | r | f32[4,8] | 0 | 128 | 7-8 | add(w, s) | jit(f)/add @ train.py:9\n",
    )
    program.instructions["s"] = program.instructions["s"]._replace(fused_opcodes=("add", "dot"))
    with_results(program, "r")
    makers = [f"{name} = fusion(w)" for name in "xyzt"]
    made = [f"{name} = dot({read})" for name, read in zip("abc", "xyz", strict=True)]
    added = ["s = fusion(a, b, c, t)", "r = add(w, s)"]
    with_dependences(program, "w = parameter()", *makers, *made, *added)
    (cause,) = added_gradients(program)
    assert isinstance(cause.edit, Remove)
    assert set(cause.edit.patterns) == {"b", "c", "y", "z", "t"}


SMALL = """
        3 | o | f32[2,2]       | 0   | 16     | 0-8 | parameter(1)
        1 | p | f32[2,2]       | 768 | 16     | 4-8 | dot(z)    | jit(f)/transpose(jvp())/mul
        1 | q | f32[2,2]       | 784 | 16     | 5-8 | dot(y)    | jit(f)/transpose(jvp())/mul
        1 | r | f32[2,2]       | 800 | 16     | 6-8 | dot(x)    | jit(f)/transpose(jvp())/mul
        4 | t | f32[2,2]       | 0   | 16     | 8-8 | add(p, q, r) | jit(f)/add @ train.py:9
"""


@pytest.mark.parametrize(
    ("width", "more", "count"),
    [
        (8, "", 0),
        (1, "", 1),
        pytest.param(1, SMALL, 1, id="next to a small parameter of the layers"),
    ],
)
def test_layers_of_a_shared_parameter_are_stacked_until_the_last_gradient(
    programs, width, more, count
):
    size = 16 * width
    program = programs(
        """
        0 | 128 | parameter 0, shape |f32[4,8]| at ShapeIndex {}
        1 | 832 | preallocated-temp
        2 | 128 | maybe-live-out
        3 | 16 | parameter 1, shape |f32[2,2]| at ShapeIndex {}
        4 | 16 | maybe-live-out
        """,
        f"""
        0 | w | f32[4,8]       | 0   | 128    | 0-8 | parameter(0)
        1 | x | f32[4,{width}] | 0   | {size} | 1-7 | fusion(w) | jit(f)/jvp()/tanh
        1 | y | f32[4,{width}] | 128 | {size} | 2-6 | fusion(x) | jit(f)/jvp()/tanh
        1 | z | f32[4,{width}] | 256 | {size} | 3-5 | fusion(y) | jit(f)/jvp()/tanh
        1 | a | f32[4,8]       | 384 | 128    | 4-8 | dot(z)    | jit(f)/transpose(jvp())/dot
        1 | b | f32[4,8]       | 512 | 128    | 5-8 | dot(y)    | jit(f)/transpose(jvp())/dot
        1 | c | f32[4,8]       | 640 | 128    | 6-8 | dot(x)    | jit(f)/transpose(jvp())/dot
        2 | s | f32[4,8]       | 0   | 128    | 7-8 | add(a, b, c) | jit(f)/add @ train.py:9
        {more.strip()}
        """,
    )
    small = ("p = dot(z)", "q = dot(y)", "r = dot(x)") if more else ()
    with_results(program, "s", *(("t",) if more else ()))
    layers = ("x = fusion()", "y = fusion(x)", "z = fusion(y)")
    made = ("a = dot(z)", "b = dot(y)", "c = dot(x)")
    sums = ("s = add(a, b, c)", *(("t = add(p, q, r)",) if more else ()))
    with_dependences(program, *layers, *made, *small, *sums)
    assert len(list(added_gradients(program))) == count


def test_a_product_of_all_parts_that_a_fusion_splits_is_not_needed_in_a_loop(programs):
    program = programs(
        """
        0 | 128 | parameter 0, shape |f32[4,8]| at ShapeIndex {}
        1 | 1600 | preallocated-temp
        2 | 128 | maybe-live-out
        """,
        """
        0 | w      | f32[4,8]  | 0    | 128 | 0-7 | parameter(0)
        1 | all    | f32[12,9] | 0    | 432 | 1-6 | dot(w)      | jit(f)/jvp()/dot_general
        1 | each{0} | f32[4,9] | 432  | 144 | 2-6 | fusion(all) | jit(f)/jvp()/max
        1 | each{1} | f32[4,9] | 576  | 144 | 2-6 | fusion(all) | jit(f)/jvp()/max
        1 | each{2} | f32[4,9] | 720  | 144 | 2-6 | fusion(all) | jit(f)/jvp()/max
        1 | a      | f32[4,8]  | 944  | 128 | 3-6 | dot(each{0}) | jit(f)/transpose(jvp())/dot
        1 | b      | f32[4,8]  | 1072 | 128 | 4-6 | dot(each{1}) | jit(f)/transpose(jvp())/dot
        1 | c      | f32[4,8]  | 1200 | 128 | 5-6 | dot(each{2}) | jit(f)/transpose(jvp())/dot
        2 | s      | f32[4,8]  | 0    | 128 | 6-7 | add(a, b, c) | jit(f)/add @ train.py:9
        """,
    )
    with_results(program, "s")
    with_dependences(
        program,
        "all = dot()",
        "each = fusion(all)",
        "a = dot(each)",
        "b = dot(each)",
        "c = dot(each)",
        "s = add(a, b, c)",
    )
    found = [cause.edit for cause in added_gradients(program)]
    assert [set(each.patterns) for each in found if isinstance(each, Remove)] == [
        {"b", "c", "all", "each{1}", "each{2}"}
    ]
