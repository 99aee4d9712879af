"""`advise` names stacked parameters that are gathered for all layers before the loop over them."""

from fractions import Fraction

import pytest

from tests.advice.small_compilations import as_stack
from xlagraph.advice.causes.gathered_stacks import gathered_stacks
from xlagraph.advice.causes.reduced_stacks import reduced_stacks
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.planner.edits.resizing import ComputeInParts

MODULE = """HloModule m

fused {{
  x = f32[64]{{0}} parameter(0)
  all = f32[16,64]{{1,0}} parameter(1)
  i = s32[] constant(3)
  row = f32[1,64]{{1,0}} dynamic-slice(all, i, i), dynamic_slice_sizes={{1,64}}
  flat = f32[64]{{0}} bitcast(row)
  ROOT sum = f32[64]{{0}} add(x, flat)
}}

ENTRY e {{
  p = f32[16,8]{{1,0}} parameter(0)
  x = f32[64]{{0}} parameter(1)
  whole = f32[16,64]{{1,0}} all-gather(p), dimensions={{{along}}}
  all = f32[16,64]{{1,0}} transpose(whole), dimensions={{0,1}}
  part = f32[64]{{0}} fusion(x, all), kind=kLoop, calls=fused
}}
"""


def program_of(programs, along=1, chosen="n", name="jit(f)/w @ f.py:3"):
    program = programs(
        """
        0 | 512 | parameter 0, shape |f32[16,8]| at ShapeIndex {}
        1 | 256 | parameter 1, shape |f32[64]| at ShapeIndex {}
        2 | 20480 | preallocated-temp
        """,
        f"""
        0 | p     | f32[16,8]  | 0     | 512  | 0-6 | parameter(0) | params['w']
        1 | x     | f32[64]    | 0     | 256  | 0-6 | parameter(1)
        2 | whole | f32[16,64] | 0     | 4096 | 1-3 | all-gather(p) | {name}
        2 | all   | f32[16,64] | 4096  | 4096 | 2-4 | transpose(whole) | {name}
        2 | part  | f32[64]    | 8192  | 256  | 3-5 | fusion(x, all) | while/body/add @ f.py:5
        2 | back  | f32[16,64] | 12288 | 4096 | 4-6 | fusion(part) | transpose(jvp())/while/mul
        2 | n     | u32[]      | 16384 | 4    | 4-6 | partition-id()
        2 | k     | u32[]      | 16388 | 4    | 4-6 | constant()
        2 | new   | f32[16,8]  | 16640 | 512  | 5-6 | fusion(back, {chosen}) | u @ f.py:9
        """,
    )
    known = program.instructions
    known["part"] = known["part"]._replace(loop="while.1")
    known["new"] = known["new"]._replace(fused_opcodes=("dynamic-slice", "slice"))
    known["while.1"] = known["part"]._replace(
        name="while.1", opcode="while", op_name="jit(f)/while", loop=None, source_line=4
    )
    known["loop"] = known["while.1"]._replace(name="loop")
    as_stack(program, "back", turns=16)
    program.stored.operations = operations_of_text(MODULE.format(along=along))
    return program


@pytest.mark.parametrize("name", ["jit(f)/w @ f.py:3", "params['w']"])
def test_stacks_that_are_gathered_before_a_loop_are_named_with_their_gradients(programs, name):
    program = program_of(programs, name=name)
    (cause,) = gathered_stacks(program)
    assert isinstance(cause.edit, ComputeInParts)
    layer, of_device = Fraction(1, 16), Fraction(1, 8)
    assert cause.edit.kept_by_label == {"all": layer, "whole": layer, "back": of_device}
    gathered = "gathered before the loop at f.py:4, each iteration of which reads one of 16 parts"
    assert gathered in [row["reason"] for row in cause.rows]
    assert list(reduced_stacks(program)) == []


def test_layers_that_devices_have_parts_of_are_not_gathered_in_the_loop(programs):
    assert list(gathered_stacks(program_of(programs, along=0))) == []


@pytest.mark.parametrize(("chosen", "count"), [("n", 0), ("k", 1)])
def test_a_part_that_the_device_chooses_is_not_the_only_one_that_is_read(programs, chosen, count):
    program = program_of(programs, chosen=chosen)
    assert len(list(reduced_stacks(program))) == count
    (cause,) = gathered_stacks(program)
    assert ("back" in cause.labels) == (chosen == "n")
