"""`advise` names values of all elements of a mapped axis of which only a reduction is read."""

from fractions import Fraction

import pytest

from tests.advice.small_compilations import with_results
from xlagraph.advice.causes.mapped_axes import mapped_axes
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.planner.edits.resizing import ComputeInParts

SAMPLES = """HloModule m

ENTRY e {
  x = f32[64]{0} parameter(0)
  keys = f32[16]{0} iota(), iota_dimension=0
  noise = f32[16,64]{1,0} broadcast(keys), dimensions={0}
  all = f32[16,64]{1,0} broadcast(x), dimensions={1}
  h = f32[16,64]{1,0} multiply(noise, all)
  g = f32[16,64]{1,0} exponential(h)
  zero = f32[] constant(0)
  ROOT mean = f32[64]{0} reduce(g, zero), dimensions={0}, to_apply=add
}
"""
SUM_IN_PARTS = SAMPLES.replace(
    "ROOT mean = f32[64]{0} reduce(g, zero), dimensions={0}",
    "p = f32[4,4,64]{2,1,0} bitcast(g)\n  ROOT mean = f32[64]{0} reduce(p, zero), dimensions={0,1}",
)
LOSS = "jit(f)/transpose(jvp(vmap()))"
BATCH = """HloModule m

ENTRY e {
  x = f32[16,64]{1,0} parameter(0)
  h = f32[16,64]{1,0} multiply(x, x)
  g = f32[16,64]{1,0} exponential(h)
  zero = f32[] constant(0)
  ROOT mean = f32[64]{0} reduce(g, zero), dimensions={0}, to_apply=add
}
"""


def samples(programs, module=SAMPLES, *, mark="vmap()/", summed="", result="mean", unnamed=()):
    shape = "f32[16,64]" if module is BATCH else "f32[64]"
    size = 4096 if module is BATCH else 256
    program = programs(
        f"""
        0 | {size} | parameter 0, shape |{shape}| at ShapeIndex {{}}
        1 | 8192 | preallocated-temp
        2 | 4096 | maybe-live-out
        """,
        f"""
        0 | x    | {shape}    | 0    | {size} | 0-4 | parameter(0)
        1 | h    | f32[16,64] | 0    | 4096 | 1-2 | multiply(x) | jit(f)/{mark}mul @ f.py:5
        1 | g    | f32[16,64] | 4096 | 4096 | 2-3 | exponential(h) | jit(f)/{mark}exp @ f.py:6
        2 | mean | f32[64]    | 0    | 256  | 3-4 | reduce(g)   | jit(f)/{summed}reduce_sum @ f.py:8
        """,
    )
    program.stored.operations = operations_of_text(module)
    with_results(program, result)
    for each in map(program.by_label.get, unnamed):  # made by the compiler
        program.values[each.value_id] = each._replace(op_name=None, attributed_op_name=None)
    return list(mapped_axes(program))


def test_samples_that_only_a_sum_reads_could_be_computed_in_groups(programs):
    (cause,) = samples(programs)
    assert cause.title == (
        "A mapped function is computed for all 16 elements, of which a part or a reduction is read"
    )
    reason = "computed for all 16 at once; f.py:8 reads only a part or a reduction of them"
    assert [(row["value"], row["reason"]) for row in cause.rows] == [("h", reason), ("g", reason)]
    assert isinstance(cause.edit, ComputeInParts)
    assert cause.edit.kept_by_label == {"h": Fraction(1, 8), "g": Fraction(1, 8)}
    assert "batch_size=2)" in cause.remedies["jax"]


def test_what_the_compiler_makes_for_samples_without_names_is_in_the_loop_too(programs):
    (cause,) = samples(programs, unnamed=["h"])
    assert isinstance(cause.edit, ComputeInParts)
    assert {*cause.edit.kept_by_label} == {"h", "g"}


def test_a_batch_through_which_no_gradient_goes_could_be_computed_in_groups(programs):
    (cause,) = samples(programs, BATCH)
    assert [row["value"] for row in cause.rows] == ["h", "g"]


@pytest.mark.parametrize("inner", ["", "jvp()"])
def test_samples_of_a_loss_may_be_added_in_the_backward_pass_alone(programs, inner):
    """A function that is mapped may take a gradient itself, as the inner loop of MAML."""
    (cause,) = samples(programs, summed=f"transpose(jvp(vmap({inner})))/")
    assert "f.py:8 reads only a part" in str(cause.rows[0]["reason"])


@pytest.mark.parametrize(
    "changed",
    [
        {"module": BATCH, "mark": "transpose(jvp(vmap()))/"},  # the examples of a training step
        {"module": SUM_IN_PARTS},  # a GPU adds up in parts, which are no dimension of an array
        {"mark": ""},  # nothing is mapped
        {"summed": "vmap()/"},  # the mapped function reduces a dimension of its own
        {"summed": "vmap(transpose(jvp()))/"},  # the gradient that is mapped does
        {"summed": "transpose(jvp(vmap()))/rematted_computation/"},  # as it does again here
    ],
)
def test_other_dimensions_are_not_named(programs, changed):
    assert samples(programs, **changed) == []


def test_members_of_a_population_have_their_dimension_outside_of_the_mapped_function_too(programs):
    program = programs(
        """
        0 | 256 | parameter 0, shape |f32[64]| at ShapeIndex {}
        1 | 11264 | preallocated-temp
        2 | 256 | maybe-live-out
        """,
        """
        0 | x    | f32[64]    | 0    | 256  | 0-5 | parameter(0)
        1 | pop  | f32[16,48] | 8192 | 3072 | 1-5 | iota() | jit(f)/iota
        1 | h    | f32[16,64] | 0    | 4096 | 2-3 | multiply(x, pop) | jit(f)/vmap()/mul @ f.py:5
        1 | g    | f32[16,64] | 4096 | 4096 | 3-4 | exponential(h) | jit(f)/vmap()/exp @ f.py:6
        2 | best | f32[64]    | 0    | 256  | 4-5 | reduce(g) | jit(f)/reduce_max @ f.py:8
        """,
    )
    program.stored.operations = operations_of_text("""HloModule m

ENTRY e {
  x = f32[64]{0} parameter(0)
  pop = f32[16,48]{1,0} iota(), iota_dimension=0
  one = f32[16,1]{1,0} slice(pop), slice={[0:16], [0:1]}
  each = f32[16]{0} bitcast(one)
  noise = f32[16,64]{1,0} broadcast(each), dimensions={0}
  all = f32[16,64]{1,0} broadcast(x), dimensions={1}
  h = f32[16,64]{1,0} multiply(noise, all)
  g = f32[16,64]{1,0} exponential(h)
  zero = f32[] constant(0)
  ROOT best = f32[64]{0} reduce(g, zero), dimensions={0}, to_apply=max
}
""")
    with_results(program, "best")
    assert [row["value"] for cause in mapped_axes(program) for row in cause.rows] == ["h", "g"]


def test_what_is_returned_for_each_sample_is_needed(programs):
    returned = SAMPLES.replace("ROOT mean", "mean").replace("  g =", "  ROOT g =")
    assert samples(programs, returned, result="g") == []


@pytest.mark.parametrize(("mark", "is_named"), [("vmap()/", True), ("", False)])
def test_a_number_of_each_member_may_be_returned(programs, mark, is_named):
    program = programs(
        """
        0 | 256 | parameter 0, shape |f32[64]| at ShapeIndex {}
        1 | 8192 | preallocated-temp
        2 | 256 | maybe-live-out
        3 | 64 | maybe-live-out
        """,
        f"""
        0 | x    | f32[64]    | 0    | 256  | 0-5 | parameter(0)
        1 | h    | f32[16,64] | 0    | 4096 | 1-3 | multiply(x) | jit(f)/vmap()/mul @ f.py:5
        1 | g    | f32[16,64] | 4096 | 4096 | 2-4 | exponential(h) | jit(f)/vmap()/exp @ f.py:6
        3 | each | f32[16]    | 0    | 64   | 3-5 | slice(g) | jit(f)/{mark}squeeze @ f.py:7
        2 | mean | f32[64]    | 0    | 256  | 4-5 | reduce(g) | jit(f)/reduce_sum @ f.py:8
        """,
    )
    module = SAMPLES.replace("ROOT mean", "part = f32[16,1]{1,0} slice(g), slice={[0:16], [0:1]}\n"
        "  each = f32[16]{0} bitcast(part)\n  ROOT mean")  # fmt: skip
    program.stored.operations = operations_of_text(module)
    with_results(program, "mean", "each")
    assert bool(list(mapped_axes(program))) == is_named


@pytest.mark.parametrize(
    ("repeated", "opcode", "other", "layer", "is_named"),
    [
        ("w", "broadcast", "iota()", LOSS, True),
        ("eye", "broadcast", "iota()", LOSS, False),
        ("w", "subtract", "dot(w)", LOSS, True),  # fused with what changes it
        ("w", "subtract", "convolution(w)", LOSS, True),
        ("w", "subtract", "iota()", LOSS, False),  # as what is added to each position
        ("w", "broadcast", "iota()", "jit(f)", False),  # a layer has the dimension, too
    ],
)
def test_elements_of_an_input_are_named_if_each_changes_a_matrix_of_its_own(
    programs, repeated, opcode, other, layer, is_named
):
    program = programs(
        """
        0 | 256 | parameter 0, shape |f32[8,8]| at ShapeIndex {}
        3 | 4096 | parameter 1, shape |f32[16,8,8]| at ShapeIndex {}
        1 | 8960 | preallocated-temp
        2 | 256 | maybe-live-out
        """,
        f"""
        0 | w     | f32[8,8]    | 0    | 256  | 0-4 | parameter(0)
        3 | data  | f32[16,8,8] | 0    | 4096 | 0-4 | parameter(1)
        1 | eye   | f32[8,8]    | 8192 | 256  | 0-1 | {other}
        1 | tasks | f32[16,8,8] | 0    | 4096 | 1-2 | {opcode}({repeated}) | vmap()/sub
        1 | g     | f32[16,8,8] | 4096 | 4096 | 2-3 | multiply(tasks, data) | vmap()/mul @ f.py:6
        1 | d     | f32[16,8]   | 8448 | 512  | 3-4 | dot(g) | {layer}/dot
        2 | mean  | f32[8,8]    | 0    | 256  | 3-4 | reduce(g, d) | jit(f)/reduce_sum @ f.py:8
        """,
    )
    broadcast = f"tasks = f32[16,8,8]{{2,1,0}} broadcast({repeated}), dimensions={{1,2}}"
    program.stored.operations = operations_of_text(
        f"""HloModule m

ENTRY e {{
  w = f32[8,8]{{1,0}} parameter(0)
  data = f32[16,8,8]{{2,1,0}} parameter(1)
  eye = f32[8,8]{{1,0}} iota(), iota_dimension=0
  {broadcast}
  g = f32[16,8,8]{{2,1,0}} multiply(tasks, data)
  zero = f32[] constant(0)
  d = f32[16,8]{{1,0}} reduce(g, zero), dimensions={{1}}, to_apply=add
  ROOT mean = f32[8,8]{{1,0}} reduce(g, zero), dimensions={{0}}, to_apply=add
}}
"""
    )
    with_results(program, "mean")
    assert bool(list(mapped_axes(program))) == is_named


@pytest.mark.parametrize(
    ("shape", "made", "is_named"),
    [
        ("f32[16]", "f32[16]{0} reduce(h, zero), dimensions={1}, to_apply=add", True),
        ("f32[16,64]", "f32[16,64]{1,0} multiply(h, h)", False),
    ],
)
def test_what_reads_samples_after_the_mapped_function_can_join_it_if_it_makes_little(
    programs, shape, made, is_named
):
    last = shape.replace("16,", "").replace("16", "")
    size = 64 if is_named else 4096
    program = programs(
        """
        0 | 256 | parameter 0, shape |f32[64]| at ShapeIndex {}
        1 | 8192 | preallocated-temp
        2 | 256 | maybe-live-out
        """,
        f"""
        0 | x    | f32[64]    | 0    | 256    | 0-4 | parameter(0)
        1 | h    | f32[16,64] | 0    | 4096   | 1-2 | multiply(x) | jit(f)/vmap()/mul @ f.py:5
        1 | g    | {shape}    | 4096 | {size} | 2-3 | fusion(h)   | jit(f)/exp @ f.py:6
        2 | mean | {last}     | 0    | 4      | 3-4 | reduce(g)   | jit(f)/sum @ f.py:8
        """,
    )
    program.stored.operations = operations_of_text(
        f"""HloModule m

ENTRY e {{
  x = f32[64]{{0}} parameter(0)
  keys = f32[16]{{0}} iota(), iota_dimension=0
  noise = f32[16,64]{{1,0}} broadcast(keys), dimensions={{0}}
  all = f32[16,64]{{1,0}} broadcast(x), dimensions={{1}}
  h = f32[16,64]{{1,0}} multiply(noise, all)
  zero = f32[] constant(0)
  g = {made}
  ROOT mean = {last} reduce(g, zero), dimensions={{0}}, to_apply=add
}}
"""
    )
    with_results(program, "mean")
    found = [row["value"] for cause in mapped_axes(program) for row in cause.rows]
    assert found == (["h"] if is_named else [])


@pytest.mark.parametrize(("rows", "is_named"), [(2, True), (8, False)])
def test_samples_are_not_named_if_slices_read_each_of_them(programs, rows, is_named):
    program = programs(
        """
        0 | 256 | parameter 0, shape |f32[64]| at ShapeIndex {}
        1 | 8192 | preallocated-temp
        2 | 4096 | maybe-live-out
        """,
        f"""
        0 | x   | f32[64]        | 0    | 256  | 0-4 | parameter(0)
        1 | h   | f32[16,64]     | 0    | 4096 | 1-4 | multiply(x) | jit(f)/vmap()/mul @ f.py:5
        2 | one | f32[{rows},64] | 0    | {rows * 256} | 2-4 | slice(h) | jit(f)/slice @ f.py:8
        2 | two | f32[{rows},64] | 2048 | {rows * 256} | 3-4 | slice(h) | jit(f)/slice @ f.py:9
        """,
    )
    program.stored.operations = operations_of_text(
        f"""HloModule m

ENTRY e {{
  x = f32[64]{{0}} parameter(0)
  h = f32[16,64]{{1,0}} broadcast(x), dimensions={{1}}
  one = f32[{rows},64]{{1,0}} slice(h), slice={{[0:{rows}], [0:64]}}
  ROOT two = f32[{rows},64]{{1,0}} slice(h), slice={{[8:{8 + rows}], [0:64]}}
}}
"""
    )
    with_results(program, "two")
    assert bool(list(mapped_axes(program))) == is_named


def test_the_matrix_whose_diagonal_has_a_dimension_is_not_mapped_over_it(programs):
    program = programs(
        """
        0 | 16384 | parameter 0, shape |f32[64,64]| at ShapeIndex {}
        1 | 33280 | preallocated-temp
        2 | 4 | maybe-live-out
        """,
        """
        0 | x    | f32[64,64] | 0     | 16384 | 0-5 | parameter(0)
        1 | h    | f32[64,64] | 0     | 16384 | 1-5 | multiply(x) | transpose(jvp(vmap()))/mul
        1 | g    | f32[64,64] | 16384 | 16384 | 2-5 | exponential(h) | transpose(jvp(vmap()))/exp
        1 | diag | f32[64]    | 32768 | 256   | 3-5 | gather(x) | transpose(jvp(vmap()))/gather
        1 | part | f32[]      | 33024 | 4     | 4-5 | reduce(diag) | jit(f)/reduce_sum @ f.py:8
        2 | mean | f32[]      | 0     | 4     | 5-5 | reduce(g, h) | jit(f)/reduce_sum @ f.py:9
        """,
    )
    program.stored.operations = operations_of_text("""HloModule m

ENTRY e {
  x = f32[64,64]{1,0} parameter(0)
  h = f32[64,64]{1,0} multiply(x, x)
  g = f32[64,64]{1,0} exponential(h)
  i = s32[64,1]{1,0} iota(), iota_dimension=0
  n = s32[64,2]{1,0} concatenate(i, i), dimensions={1}
  rows = f32[64,1,1]{2,1,0} gather(x, n), offset_dims={1,2}, start_index_map={0,1}, \
index_vector_dim=1, slice_sizes={1,1}
  diag = f32[64]{0} bitcast(rows)
  zero = f32[] constant(0)
  part = f32[] reduce(diag, zero), dimensions={0}, to_apply=add
  ROOT mean = f32[] reduce(g, zero), dimensions={0,1}, to_apply=add
}
""")
    with_results(program, "mean")
    assert list(mapped_axes(program)) == []
