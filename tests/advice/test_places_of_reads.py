"""A read is at the line of the operation that computes with the value, within a fusion too."""

import pytest

from xlagraph.advice.causes.places_of_reads import (
    PlaceOfRead,
    is_in_call,
    place_of_read,
    repeats_write,
)
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.planner.planned_program import Overwrite

MODULE = """HloModule m

FileNames
1 "/home/me/train.py"
2 "/usr/lib/python3.11/site-packages/flax/nn.py"

FunctionNames
1 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=5 end_line=5 column=1 end_column=9}
2 {file_name_id=2 function_name_id=1 line=7 end_line=7 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

fused {
  p0 = f32[64,16]{1,0} parameter(0)
  p1 = s32[8]{0} parameter(1)
  same = f32[1024]{0} bitcast(p0)
  taken = f32[8]{0} gather(same, p1), metadata={op_name="jit(f)/gather" stack_frame_id=2}
  ROOT div = f32[8]{0} divide(taken, taken), metadata={op_name="jit(f)/div"}
}

ENTRY e {
  old = f32[64,16]{1,0} parameter(0)
  i = s32[8]{0} parameter(1)
  ROOT part = f32[8]{0} fusion(old, i), kind=kLoop, calls=fused
}
"""


@pytest.mark.parametrize(
    ("module", "place"),
    [
        pytest.param(MODULE, ("gather", "/home/me/train.py", 5), id="the caller's line"),
        pytest.param("", ("div", "net.py", 9), id="no module: the line of the fusion"),
    ],
)
def test_a_fusion_reads_where_it_first_computes_with_the_value(programs, module, place):
    program = programs(
        """
        0 | 4096 | parameter 0, shape |f32[64,16]| at ShapeIndex {}
        1 | 32   | parameter 1, shape |s32[8]| at ShapeIndex {}
        2 | 32   | maybe-live-out
        """,
        """
        0 | old  | f32[64,16] | 0 | 4096 | 0-1 | parameter(0)
        1 | i    | s32[8]     | 0 | 32   | 0-1 | parameter(1)
        2 | part | f32[8]     | 0 | 32   | 1-1 | fusion(old, i) | jit(f)/div @ net.py:9
        """,
    )
    program.stored.operations = operations_of_text(module) if module else None
    assert place_of_read(program, "part", {program.by_label["old"].value_id}) == place


def test_who_reads_elements_in_another_order_reads_the_value(programs):
    program = programs(
        """
        0 | 4096 | parameter 0, shape |f32[64,16]| at ShapeIndex {}
        1 | 4160 | preallocated-temp
        """,
        """
        0 | old   | f32[64,16] | 0    | 4096 | 0-2 | parameter(0)
        1 | moved | f32[16,64] | 0    | 4096 | 1-2 | transpose(old) | jit(f)/while/body
        1 | sum   | f32[16]    | 4096 | 64   | 2-2 | reduce(moved)  | jit(f)/reduce_sum @ f.py:9
        """,
    )
    place = place_of_read(program, "moved", {program.by_label["old"].value_id})
    assert place == ("reduce_sum", "f.py", 9)


@pytest.mark.parametrize(
    ("line", "library", "is_one"),
    [
        (5, "site-packages/optimizer.py", True),
        pytest.param(4, "site-packages/optimizer.py", False, id="another line reads it"),
        pytest.param(5, "f.py", False, id="the line itself reads it"),
    ],
)
def test_the_read_and_write_of_one_call_cannot_change_their_order(programs, line, library, is_one):
    program = programs(
        "0 | 12288 | preallocated-temp",
        """
        0 | old     | f32[1024] | 0    | 4096 | 0-2 | iota()
        0 | updated | f32[1024] | 4096 | 4096 | 1-2 | fusion(old) | jit(f)/add @ f.py:6
        0 | new     | f32[1024] | 8192 | 4096 | 2-2 | fusion(old) | jit(f)/select_n @ f.py:5
        """,
    )
    for name, file in (("updated", "site-packages/update.py"), ("new", library)):
        program.instructions[name] = program.instructions[name]._replace(source_file=file)
    place = PlaceOfRead("mul", program.place_of("new")[0], line)
    assert is_in_call(program, place, "updated", "new") == is_one


@pytest.mark.parametrize(
    ("reads", "op", "line", "written", "repeats"),
    [
        ("old, row", "update", 5, "jit(f)/update", True),
        pytest.param("old, row", "", 5, "jit(f)/update", True, id="the read has no name"),
        pytest.param("old, row", "update", 5, None, True, id="the write has no name"),
        pytest.param("old, other", "update", 5, "jit(f)/update", False, id="another row"),
        pytest.param("old, row", "sum", 5, "jit(f)/update", False, id="another op reads it"),
        pytest.param("old, row", "update", 6, "jit(f)/update", False, id="another line reads it"),
    ],
)
def test_a_fusion_may_compute_the_new_value_once_more_from_the_old_one(
    programs, reads, op, line, written, repeats
):
    program = programs(
        "0 | 12352 | preallocated-temp",
        f"""
        0 | old   | f32[1024] | 0     | 4096 | 0-5 | iota()
        0 | row   | f32[8]    | 12288 | 32   | 1-5 | exponential(x)
        0 | other | f32[8]    | 12320 | 32   | 2-5 | exponential(y)
        0 | cache | f32[1024] | 4096  | 4096 | 3-5 | fusion(old, row) | jit(f)/update @ f.py:5
        0 | read  | f32[1024] | 8192  | 4096 | 4-5 | fusion({reads})  | jit(f)/dot @ f.py:9
        """,
    )
    over = Overwrite(program.by_label["old"].value_id, is_operand=True, may_share_block=True)
    program.program.overwrites[program.by_label["cache"].value_id] = (over,)
    cache = program.instructions["cache"]
    program.instructions["cache"] = cache._replace(op_name=written)
    place = PlaceOfRead(op, program.place_of("cache")[0], line)
    assert repeats_write(program, place, "read", "cache") == repeats
