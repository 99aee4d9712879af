"""`advise` names causes: the reader of an old value, activations of a checkpoint."""

from dataclasses import replace

import pytest

from tests.advice.small_compilations import (
    share_one_buffer_set,
    with_dependences,
    with_overwrites,
    with_results,
)
from xlagraph.advice.causes.forced_copies import forced_copies
from xlagraph.advice.causes.kept_by_checkpoints import kept_by_checkpoints
from xlagraph.advice.causes.unused_donations import (
    results_of_another_type,
    unused_donations,
)
from xlagraph.planner.compilation.records import StoredPosition


def changed(cause):
    assert cause.edit is not None
    return cause.edit


def named(causes):
    """Return the values that each cause names, with their reason."""
    return [(cause.title, [row["value"] for row in cause.rows]) for cause in causes]


DONATED = "0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}, maybe-live-out"


READ_LATER = """
    0 | x   | f32[1024] | 0    | 4096 | 0-1 | parameter(0)
    1 | k   | f32[1024] | 0    | 4096 | 1-4 | copy(x)
    1 | k2  | f32[1024] | 4096 | 4096 | 2-3 | copy(k)
    0 | out | f32[1024] | 0    | 4096 | 3-5 | fusion(k2{}) | jit(f)/scatter @ train.py:30
    1 | sum | f32[1]    | 4096 | 4    | 4-5 | reduce(k)    | jit(f)/reduce_sum @ train.py:31
"""


def read_later(programs, read_by_writer=""):
    """A donated input that `sum` reads, and that `out` overwrites."""
    temp = f"{DONATED}\n1 | 8192 | preallocated-temp"
    program = programs(temp, READ_LATER.format(read_by_writer))
    share_one_buffer_set(program, "x", "k2", "out")
    with_results(program, "out")
    with_overwrites(program, ("out", "k2"))
    return program


FIRST = ("x = parameter()", "k = copy(x)", "k2 = copy(k)")


def test_the_reader_that_nothing_orders_before_the_overwrite_is_named(programs):
    program = read_later(programs)
    with_dependences(program, *FIRST, "out = fusion(k2)", "sum = reduce(k)")
    (cause,) = forced_copies(program)
    assert cause.title == "A reader of the old value forces a copy of a donated input"
    assert changed(cause).patterns == ("k", "k2")  # copies of copies are one cause
    assert cause.rows[0]["reason"] == (
        "train.py:31 (reduce_sum) reads the old x, and nothing orders this before train.py:30,"
        " which overwrites it"
    )
    assert (cause.rows[0]["userFile"], cause.rows[0]["userLine"]) == ("train.py", 31)


@pytest.mark.parametrize("main", ["", "jit(main)/"])
def test_a_reader_may_be_of_the_backward_pass_where_op_names_leave_it_out(programs, main):
    program = read_later(programs)
    with_dependences(program, *FIRST, "out = fusion(k2)", "sum = reduce(k)")
    values = program.compilation.values
    named = {each: value._replace(op_name=f"jit(f)/{main}mul") for each, value in values.items()}
    program.compilation = replace(program.compilation, values=named, platform="cpu")
    (cause,) = forced_copies(program)
    assert (cause.doubt is not None) == bool(main)


OF_LIBRARY = "lib/site-packages/optax/update.py"


@pytest.mark.parametrize(
    ("file", "reading", "count"),
    [
        (OF_LIBRARY, OF_LIBRARY, 0),
        pytest.param(OF_LIBRARY, None, 0, id="what the compiler has made for the call"),
        ("lib/f.py", "lib/f.py", 1),
    ],
)
def test_what_one_call_of_a_library_reads_and_writes_cannot_be_ordered(
    programs, file, reading, count
):
    program = read_later(programs)
    with_dependences(program, *FIRST, "out = fusion(k2)", "sum = reduce(k)")
    for name, scope, source in (("out", "cond/mul", file), ("sum", "add", reading)):
        made = program.instructions[name]._replace(source_file=source, op_name=scope)
        program.instructions[name] = made
    values = program.compilation.values
    users = {
        each: values[each]._replace(user_file="train.py", user_line=30)
        for each, value in values.items()
        if value.name in ("out", "sum")
    }
    program.compilation = replace(program.compilation, values={**values, **users})
    assert len(list(forced_copies(program))) == count


def test_a_reader_of_the_old_and_the_new_value_is_not_told_to_run_first(programs):
    program = read_later(programs)
    with_dependences(program, *FIRST, "out = fusion(k2)", "sum = reduce(k, out)")
    (cause,) = forced_copies(program)
    assert cause.rows[0]["reason"] == (
        "train.py:31 (reduce_sum) reads the old x and what train.py:30 writes over it"
    )
    assert not any("order it before" in text for text in cause.remedies.values())


def test_a_copy_into_another_layout_is_needed_in_any_order(programs):
    program = read_later(programs)
    with_dependences(program, *FIRST, "out = fusion(k2)", "sum = reduce(k)")
    for label, layout in (("x", "{1,0}"), ("k", "{0,1}"), ("k2", "{1,0}")):
        value = program.by_label[label]
        program.compilation.values[value.value_id] = value._replace(layout=layout)
    assert not list(forced_copies(program))


def test_a_copy_that_no_reader_needs_is_the_compilers(programs):
    program = read_later(programs)
    with_dependences(program, *FIRST, "sum = reduce(k)", "out = fusion(k2, sum)")
    (cause,) = forced_copies(program)
    assert cause.title == "The compiler keeps a copy of a donated input that no reader needs"
    assert cause.doubt is not None
    assert cause.is_fact


def test_a_reader_of_each_version_that_is_copied_before_the_next_write_is_named(programs):
    program = programs(
        f"{DONATED}\n1 | 8200 | preallocated-temp",
        """
        0 | x   | f32[1024] | 0    | 4096 | 0-2 | parameter(0)
        1 | k   | f32[1024] | 0    | 4096 | 1-3 | copy(x)
        1 | u   | f32[1024] | 0    | 4096 | 3-5 | scatter(k)    | jit(f)/scatter @ train.py:30
        1 | old | f32[1]    | 8192 | 4    | 2-5 | reduce(x)     | jit(f)/sum @ train.py:31
        0 | k2  | f32[1024] | 0    | 4096 | 4-6 | copy(u)
        1 | v   | f32[1]    | 8196 | 4    | 5-6 | reduce(u)     | jit(f)/sum @ train.py:31
        0 | out | f32[1024] | 0    | 4096 | 6-7 | scatter(k2)   | jit(f)/scatter @ train.py:30
        """,
    )
    share_one_buffer_set(program, "x", "k2", "out")
    share_one_buffer_set(program, "k", "u")
    with_results(program, "out")
    read = ("old = reduce(x)", "k2 = copy(u)", "v = reduce(u)", "out = scatter(k2)")
    with_dependences(program, *FIRST[:2], "u = scatter(k)", *read)
    (cause,) = forced_copies(program)
    assert changed(cause).patterns == ("k", "k2")
    assert cause.rows[0]["reason"] == (
        "train.py:31 (sum) reads the old x, and nothing orders this before train.py:30, which"
        " overwrites it"
    )


def test_a_state_from_which_each_iteration_starts_again_is_copied_without_a_reason(programs):
    """Local training of each client of federated learning: the next client needs it, too."""
    program = read_later(programs)
    inner = {"body": ("k", "k2", "out", "sum")}
    loop = (*FIRST, "out = fusion(k2)", "sum = reduce(k, out)", "loop = while(x)")
    with_dependences(program, *loop, callees=inner)
    assert not list(forced_copies(program))


@pytest.mark.parametrize(
    ("reads", "titles"),
    [
        ("sum", ["A donated input is also returned, so it is copied"]),
        pytest.param("x", [], id="a reader would force the copy if it were not returned"),
    ],
)
def test_a_donated_input_that_is_returned_too_is_copied(programs, reads, titles):
    program = programs(
        f"{DONATED}\n1 | 4096 | maybe-live-out\n2 | 4 | preallocated-temp",
        """
        0 | x   | f32[1024] | 0 | 4096 | 0-1 | parameter(0)
        1 | k   | f32[1024] | 0 | 4096 | 1-4 | copy(x)
        2 | sum | f32[1]    | 0 | 4    | 2-4 | reduce(k) | jit(f)/sum @ train.py:31
        0 | out | f32[1024] | 0 | 4096 | 3-4 | fusion()  | jit(f)/add @ train.py:30
        """,
    )
    share_one_buffer_set(program, "x", "out")
    with_results(program, "out", "k")
    with_dependences(program, *FIRST[:2], "sum = reduce(k)", f"out = fusion({reads})")
    assert [cause.title for cause in forced_copies(program)] == titles


@pytest.mark.parametrize(
    ("second", "read", "titles"),
    [
        ("kb", "p{0}", ["Two loop carries swap places"]),
        ("h", "kb", ["A loop carry moves to another place"]),
        pytest.param("h", "p{0}", [], id="no iteration reads the value that it replaces"),
    ],
)
def test_carries_that_an_iteration_passes_on_in_another_place_are_named(
    programs, second, read, titles
):
    program = programs(
        "0 | 24576 | preallocated-temp",
        f"""
        0 | p{{0}} (phi)        | f32[1024] | 0     | 4096 | 0-2 | parameter(0)
        0 | p{{1}} (phi)        | f32[1024] | 4096  | 4096 | 0-3 | parameter(0)
        0 | ka, r{{1}}          | f32[1024] | 8192  | 4096 | 1-5 | copy(p{{0}})
        0 | kb                  | f32[1024] | 12288 | 4096 | 2-5 | copy(p{{1}})
        0 | h                   | f32[1024] | 16384 | 4096 | 3-5 | fusion({read})
        - | r                   | (f32[1024], f32[1024]) | - | - | 4-5 | tuple({second}, ka)
        """,
    )
    positions = [
        position
        for position in program.stored.positions
        if not (position.instruction == "r" and position.shape_index == "{0}")
    ]
    made = program.by_label[second].value_id
    program.stored.positions = (*positions, StoredPosition(made, "r", "{0}"))
    with_dependences(
        program,
        "p = parameter()",
        "ka = copy(p)",
        "kb = copy(p)",
        f"h = fusion({read.removesuffix('{0}')})",
        f"r = tuple({second}, ka)",
        "loop = while()",
        callees={"body": ("p", "ka", "kb", "h", "r")},
    )
    assert [each.title.partition(",")[0] for each in forced_copies(program)] == titles


@pytest.mark.parametrize("is_swapped", [True, False])
@pytest.mark.parametrize("inside", ["while", "scatter"])
def test_carries_of_which_parts_are_written_before_they_swap_places_are_named(
    programs, inside, is_swapped
):
    places = (1, 0) if is_swapped else (0, 1)
    program = programs(
        "0 | 32768 | preallocated-temp",
        f"""
        0 | p{{0}} (phi)               | f32[1024] | 0     | 4096 | 0-2 | parameter(0)
        0 | p{{1}} (phi)               | f32[1024] | 4096  | 4096 | 0-3 | parameter(0)
        0 | ka, t{{0}}                 | f32[1024] | 8192  | 4096 | 1-4 | copy(p{{0}})
        0 | kb, t{{1}}                 | f32[1024] | 12288 | 4096 | 2-4 | copy(p{{1}})
        - | t                          | (f32[1024], f32[1024]) | - | - | 3-4 | tuple(ka, kb)
        0 | w{{0}} (phi)               | f32[1024] | 16384 | 4096 | 4-7 | {inside}(t)
        0 | w{{1}} (phi)               | f32[1024] | 20480 | 4096 | 4-7 | {inside}(t)
        0 | ra, r{{{places[0]}}}       | f32[1024] | 24576 | 4096 | 5-8 | copy(w{{0}})
        0 | rb, r{{{places[1]}}}       | f32[1024] | 28672 | 4096 | 6-8 | copy(w{{1}})
        - | r                          | (f32[1024], f32[1024]) | - | - | 7-8 | tuple(ra, rb)
        """,
    )
    with_overwrites(program, ("w{0}", "ka"), ("w{1}", "kb"))
    body = ("p", "ka", "kb", "t", "w", "ra", "rb", "r")
    with_dependences(
        program,
        "p = parameter()",
        "ka = copy(p)",
        "kb = copy(p)",
        "t = tuple(ka, kb)",
        f"w = {inside}(t)",
        "ra = copy(w)",
        "rb = copy(w)",
        "r = tuple(ra, rb)",
        "loop = while()",
        callees={"body": body},
    )
    title = "Two loop carries swap places, so the old value is copied in every iteration"
    causes = [cause for cause in forced_copies(program) if cause.title == title]
    assert [len(cause.rows) for cause in causes] == ([4] if is_swapped else [])


def test_a_result_of_another_type_than_its_input_cannot_use_its_bytes(programs):
    program = programs(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | parameter 1, shape |s32[1024]| at ShapeIndex {}
        2 | 2048 | maybe-live-out
        """,
        """
        0 | w   | f32[1024]  | 0 | 4096 | 0-3 | parameter(0)
        1 | ids | s32[1024]  | 0 | 4096 | 0-3 | parameter(1)
        2 | out | bf16[1024] | 0 | 2048 | 2-3 | fusion(w, ids)
        """,
    )
    program.compilation = replace(program.compilation, results=(program.by_label["out"].value_id,))
    (cause,) = results_of_another_type(program)
    assert changed(cause).patterns == ("out",)
    assert cause.rows[0]["reason"] == "the result is bf16, but the input w is f32"
    assert cause.doubt == "this is safe only if the caller does not need the input afterwards"


def test_an_input_that_is_donated_but_not_used_says_why(programs):
    program = programs(DONATED, "0 | x | f32[1024] | 0 | 4096 | 0-1 | parameter(0)")
    row = {"value": "x", "reason": "no output of that size and type"}
    rows = [{**row, "readerFile": None, "readerLine": None}]
    (cause,) = unused_donations(program, rows)
    assert cause.rows[0]["reason"] == "donated but not used: no output of that size and type"


@pytest.mark.parametrize(
    ("partitions", "reason"),
    [
        (4, "its result is only a part on each device, f32[256]"),
        (None, "no output of that size and type"),
    ],
)
def test_a_donated_input_whose_result_is_sharded_says_so(programs, partitions, reason):
    program = programs(
        f"{DONATED}\n1 | 1024 | maybe-live-out",
        """
        0 | x   | f32[1024] | 0 | 4096 | 0-1 | parameter(0)
        1 | new | f32[256]  | 0 | 1024 | 1-2 | fusion(x)
        """,
    )
    program.compilation = replace(program.compilation, results=(program.by_label["new"].value_id,))
    row = {"value": "x", "reason": "no output of that size and type", "partitions": partitions}
    (cause,) = unused_donations(program, [{**row, "readerFile": None, "readerLine": None}])
    assert cause.rows[0]["reason"] == f"donated but not used: {reason}"
    assert ("sharding" in cause.remedies["jax"]) == bool(partitions)


FORWARD, BACKWARD = "jit(f)/jvp()", "jit(f)/transpose(jvp())"
INSIDE = "while/body/closed_call"


def kept(value, of_checkpoint=False):
    """Return a row of lifetime/kept-for-backward."""
    return {
        "value": value,
        "recomputed": False,
        "physicalBytes": 4096,
        "ofCheckpoint": of_checkpoint,
    }


def stacked(backward):
    """A forward value of a loop, and one of its backward pass."""
    return f"""
        0 | s | s8[4096] | 0    | 4096 | 0-2 | fusion() | {FORWARD}/{INSIDE}/tanh
        0 | d | s8[4096] | 4096 | 4096 | 2-2 | fusion(s) | {BACKWARD}/{INSIDE}/{backward}
    """


@pytest.mark.parametrize(
    ("backward", "title"),
    [
        ("mul", None),
        ("checkpoint/mul", "A checkpoint in a loop saves nothing"),
        (
            "checkpoint/rematted_computation/mul",
            "A checkpoint in a loop still stacks values",
        ),
    ],
)
def test_the_stacks_of_a_loop_are_named_by_the_action_of_its_checkpoint(programs, backward, title):
    program = programs("0 | 8192 | preallocated-temp", stacked(backward))
    causes = list(kept_by_checkpoints(program, [kept("s")], knows_merged=False))
    if title is None:
        assert causes == []  # not wrapped: the query advises to wrap it
        return
    (cause,) = causes
    assert cause.title.startswith(title)
    assert "wrapped" in cause.remedies["jax"]


@pytest.mark.parametrize(
    ("op_name", "is_named"),
    [(f"{FORWARD}/tanh", True), pytest.param("w", False, id="moved, not computed")],
)
def test_a_checkpoint_outside_of_loops_that_recomputes_nothing_is_named(
    programs, op_name, is_named
):
    program = programs(
        "0 | 4096 | parameter 0, shape |s8[4096]| at ShapeIndex {}\n1 | 8192 | preallocated-temp",
        f"""
        0 | w | s8[4096] | 0    | 4096 | 0-3 | parameter(0) | w
        1 | s | s8[4096] | 0    | 4096 | 1-3 | fusion(w) | {op_name}
        1 | d | s8[4096] | 4096 | 4096 | 3-3 | fusion(s) | {BACKWARD}/checkpoint/mul
        """,
    )
    rows = [kept("s", of_checkpoint=True)]
    titles = [cause.title for cause in kept_by_checkpoints(program, rows, knows_merged=False)]
    assert [title.partition(":")[0] for title in titles] == (
        ["A checkpoint recomputes nothing"] if is_named else []
    )
    assert not list(kept_by_checkpoints(program, rows, knows_merged=True))
