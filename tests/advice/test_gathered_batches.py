"""`advise` names values of the whole batch, if each device has a part of the batch."""

import pytest

from xlagraph.advice.causes.gathered_batches import gathered_batches
from xlagraph.advice.changeable_rows import changeable_rows
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.planner.edits.resizing import Scale
from xlagraph.queries.catalogue.declarations import ChangeKind

MODULE = """HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  x = f32[4,2]{1,0} parameter(0)
  w = f32[2,8]{1,0} parameter(1)
  all = f32[FROM]{1,0} GATHER(x), dimensions={0}
  part = f32[ROWS,8]{1,0} dot(all, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sum = f32[ROWS,8]{1,0} all-reduce(part), to_apply=add
  next = f32[ROWS,2]{1,0} dot(sum, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  new = f32[2,8]{1,0} dot(all, sum), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT r = (f32[2,8]{1,0}, f32[ROWS,2]{1,0}) tuple(new, next)
}
"""
GATHERED = "  all = f32[FROM]{1,0} GATHER(x), dimensions={0}"
STARTED = """  start = (f32[4,2]{1,0}, f32[FROM]{1,0}) all-gather-start(x), dimensions={0}
  all = f32[FROM]{1,0} all-gather-done(start)"""
TWO_STARTED = """  y = f32[4,2]{1,0} copy(x)
  start = ((f32[4,2]{1,0}, f32[4,2]{1,0}), (f32[FROM]{1,0}, f32[FROM]{1,0})) all-gather-start(y, x)
  done = (f32[FROM]{1,0}, f32[FROM]{1,0}) all-gather-done(start)
  all = f32[FROM]{1,0} get-tuple-element(done), index=1"""
GIVEN = """
0 | 32   | parameter 0, shape |f32[4,2]| at ShapeIndex {}
1 | 64   | parameter 1, shape |f32[2,8]| at ShapeIndex {}
2 | 1920 | preallocated-temp
3 | 64   | maybe-live-out
"""


def named(returning, rows, gather, of_input, of_weights, module=MODULE, more="", dtype="f32"):
    size = 32 * rows
    program = returning(
        GIVEN.replace("f32", dtype),
        f"""
        0 | x    | f32[4,2]      | 0   | 32           | 0-6 | parameter(0)
        1 | w    | f32[2,8]      | 0   | 64           | 0-6 | parameter(1)
        2 | all  | f32[{rows},2] | 0   | {size // 4}  | 1-5 | {gather}(x)
        2 | part | f32[{rows},8] | 128 | {size}       | 2-3 | dot(all, w)    | jit(f)/dot @ f.py:4
        2 | sum  | f32[{rows},8] | 640 | {size}       | 2-5 | all-reduce(part) | jit(f)/dot @ f.py:4
        2 | next | f32[{rows},2] | 1152 | {size // 4} | 2-6 | dot(sum, w)    | jit(f)/dot @ f.py:5
        3 | new  | f32[2,8]      | 0   | 64           | 5-6 | dot(all, sum)  | jit(f)/dot @ f.py:6
        {more}
        """.replace("f32", dtype),
        "new",
    )
    text = module.replace("f32", dtype).replace("FROM", f"{rows},2").replace("GATHER", gather)
    program.stored.operations = operations_of_text(text.replace("ROWS", str(rows)))
    program.compilation.parameters.update(
        {program.by_label["x"].value_id: (0, "{}"), program.by_label["w"].value_id: (1, "{}")}
    )
    inputs = [
        {"value": "x", "sharding": of_input, "devices": 4},
        {"value": "w", "sharding": of_weights, "devices": 4},
    ]
    return list(gathered_batches(program, inputs))


ROWS = "{devices=[4,1]<=[4]}"


@pytest.mark.parametrize(
    ("rows", "gather", "of_input", "of_weights", "values"),
    [
        pytest.param(16, "all-gather", ROWS, ROWS, ["part", "sum"], id="the batch is gathered"),
        pytest.param(4, "copy", ROWS, ROWS, [], id="each device has its rows"),
        pytest.param(16, "all-gather", "{replicated}", ROWS, [], id="the batch is not split"),
        pytest.param(
            16, "all-gather", ROWS, "{devices=[1,4]<=[4]}", ["all", "next"], id="features are split"
        ),
    ],
)
def test_values_of_the_whole_batch_are_named_if_it_is_split(
    returning, rows, gather, of_input, of_weights, values
):
    causes = named(returning, rows, gather, of_input, of_weights)
    edits = [cause.edit for cause in causes]
    assert all(isinstance(edit, Scale) for edit in edits)
    found = sorted(label for edit in edits for label in edit.kept_by_label)
    assert found == values


def test_ids_that_are_gathered_for_a_split_table_are_not_the_batch(returning):
    assert named(returning, 16, "all-gather", ROWS, ROWS, dtype="s32") == []


@pytest.mark.parametrize(
    "gathered", [pytest.param(STARTED, id="one"), pytest.param(TWO_STARTED, id="two at once")]
)
def test_gathers_of_a_gpu_have_a_start_and_an_end(returning, gathered):
    module = MODULE.replace(GATHERED, gathered)
    (cause,) = named(returning, 16, "all-gather-start", ROWS, ROWS, module)
    assert isinstance(cause.edit, Scale)
    assert sorted(cause.edit.kept_by_label) == ["part", "sum"]


def test_a_mask_that_only_the_whole_batch_reads_is_as_long(returning):
    module = MODULE.replace(
        "dot(sum, w)",
        "dot(masked, w)",
    ).replace(
        "  next =",
        """  zero = f32[] constant(0)
  mask = f32[ROWS,8]{1,0} broadcast(zero), dimensions={}
  masked = f32[ROWS,8]{1,0} add(sum, mask)
  next =""",
    )
    mask = "2 | mask | f32[16,8] | 1408 | 512 | 0-6 | broadcast(zero)"
    (cause,) = named(returning, 16, "all-gather", ROWS, ROWS, module, mask)
    assert isinstance(cause.edit, Scale)
    assert sorted(cause.edit.kept_by_label) == ["mask", "part", "sum"]


def test_what_is_computed_from_the_batch_may_be_gathered(returning):
    program = returning(
        GIVEN,
        """
        0 | x   | f32[4,2]  | 0   | 32  | 0-5 | parameter(0)
        1 | w   | f32[2,8]  | 0   | 64  | 0-5 | parameter(1)
        2 | h   | f32[4,8]  | 0   | 128 | 1-4 | dot(x, w)
        2 | all | f32[16,8] | 128 | 512 | 2-4 | all-gather(h)
        2 | s   | f32[4,16] | 640 | 256 | 3-5 | dot(h, all)
        3 | new | f32[2,8]  | 0   | 64  | 4-5 | fusion(s, w)
        """,
        "new",
    )
    program.stored.operations = operations_of_text("""HloModule m

ENTRY e {
  x = f32[4,2]{1,0} parameter(0)
  w = f32[2,8]{1,0} parameter(1)
  h = f32[4,8]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  all = f32[16,8]{1,0} all-gather(h), dimensions={0}
  ROOT s = f32[4,16]{1,0} dot(h, all), lhs_contracting_dims={1}, rhs_contracting_dims={1}
}
""")
    program.compilation.parameters.update(
        {program.by_label["x"].value_id: (0, "{}"), program.by_label["w"].value_id: (1, "{}")}
    )
    inputs = [{"value": label, "sharding": ROWS, "devices": 4} for label in ("x", "w")]
    assert not list(gathered_batches(program, inputs))


@pytest.mark.parametrize(
    ("reader", "is_named"), [("fusion(t, ids, all)", True), ("scatter(t, ids, all)", False)]
)
def test_new_rows_of_a_split_table_are_needed_on_every_device(returning, reader, is_named):
    program = returning(
        """
        0 | 32  | parameter 0, shape |f32[4,2]| at ShapeIndex {}
        1 | 64  | parameter 1, shape |f32[8,2]| at ShapeIndex {}
        2 | 64  | parameter 2, shape |s32[16]| at ShapeIndex {}
        3 | 160 | preallocated-temp
        4 | 64  | maybe-live-out
        """,
        f"""
        0 | x   | f32[4,2]  | 0  | 32  | 0-6 | parameter(0)
        1 | t   | f32[8,2]  | 0  | 64  | 0-6 | parameter(1)
        2 | ids | s32[16]   | 0  | 64  | 0-6 | parameter(2)
        3 | g   | f32[4,2]  | 0  | 32  | 3-4 | tanh(x)
        3 | all | f32[16,2] | 32 | 128 | 4-5 | all-gather(g)
        4 | new | f32[8,2]  | 0  | 64  | 5-6 | {reader}
        """,
        "new",
    )
    program.stored.operations = operations_of_text("""HloModule m

ENTRY e {
  x = f32[4,2]{1,0} parameter(0)
  t = f32[8,2]{1,0} parameter(1)
  ids = s32[16]{0} parameter(2)
  g = f32[4,2]{1,0} tanh(x)
  all = f32[16,2]{1,0} all-gather(g), dimensions={0}
  ROOT new = f32[8,2]{1,0} custom-call(t, ids, all), custom_call_target="f"
}
""")
    numbers = {"x": (0, "{}"), "t": (1, "{}"), "ids": (2, "{}")}
    program.compilation.parameters.update(
        {program.by_label[label].value_id: place for label, place in numbers.items()}
    )
    whole = {"ids": "{replicated}"}
    inputs = [{"value": label, "sharding": whole.get(label, ROWS)} for label in numbers]
    assert bool(list(gathered_batches(program, inputs))) == is_named
    rows = changeable_rows(program, ChangeKind.SHARD, [{"value": "all"}])
    assert bool(rows) == is_named


@pytest.mark.parametrize(
    ("number", "values"),
    [
        pytest.param("partition-id()", ["part", "sum"], id="each device takes its rows"),
        pytest.param("parameter(2)", [], id="the caller says which rows"),
    ],
)
def test_the_batch_may_be_split_by_the_program(returning, number, values):
    program = returning(
        """
        0 | 128  | parameter 0, shape |f32[16,2]| at ShapeIndex {}
        1 | 64   | parameter 1, shape |f32[2,8]| at ShapeIndex {}
        2 | 1408 | preallocated-temp
        3 | 64   | maybe-live-out
        """,
        """
        0 | x    | f32[16,2] | 0   | 128 | 0-6 | parameter(0)
        1 | w    | f32[2,8]  | 0   | 64  | 0-6 | parameter(1)
        2 | id   | u32[]     | 0   | 4   | 0-1 | partition-id()
        2 | own  | f32[4,2]  | 4   | 32  | 1-2 | fusion(x, id)
        2 | all  | f32[16,2] | 64  | 128 | 2-5 | all-gather(own)
        2 | part | f32[16,8] | 192 | 512 | 3-4 | dot(all, w)      | jit(f)/dot @ f.py:4
        2 | sum  | f32[16,8] | 704 | 512 | 4-6 | all-reduce(part) | jit(f)/dot @ f.py:4
        3 | new  | f32[2,8]  | 0   | 64  | 5-6 | dot(all, sum)    | jit(f)/dot @ f.py:6
        """,
        "new",
    )
    program.stored.operations = operations_of_text(f"""HloModule m

rows {{
  whole = f32[16,2]{{1,0}} parameter(0)
  n = u32[] parameter(1)
  four = u32[] constant(4)
  start = u32[] multiply(n, four)
  zero = u32[] constant(0)
  ROOT s = f32[4,2]{{1,0}} dynamic-slice(whole, start, zero), dynamic_slice_sizes={{4,2}}
}}

add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}}

ENTRY e {{
  x = f32[16,2]{{1,0}} parameter(0)
  w = f32[2,8]{{1,0}} parameter(1)
  id = u32[] {number}
  own = f32[4,2]{{1,0}} fusion(x, id), kind=kLoop, calls=rows
  all = f32[16,2]{{1,0}} all-gather(own), dimensions={{0}}
  part = f32[16,8]{{1,0}} dot(all, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  sum = f32[16,8]{{1,0}} all-reduce(part), to_apply=add
  ROOT new = f32[2,8]{{1,0}} dot(all, sum), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
}}
""")
    program.compilation.parameters.update(
        {program.by_label["x"].value_id: (0, "{}"), program.by_label["w"].value_id: (1, "{}")}
    )
    inputs = [{"value": "x", "sharding": "{replicated}"}, {"value": "w", "sharding": ROWS}]
    edits = [cause.edit for cause in gathered_batches(program, inputs)]
    found = [label for edit in edits if isinstance(edit, Scale) for label in edit.kept_by_label]
    assert sorted(found) == values
