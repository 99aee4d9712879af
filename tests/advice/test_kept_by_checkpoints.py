"""`advise` says of a loop that its checkpoint keeps values only if that loop has a checkpoint."""

import pytest

from tests.advice.small_compilations import share_one_buffer_set
from xlagraph.advice.causes.kept_by_checkpoints import kept_by_checkpoints
from xlagraph.graph import Cell

FORWARD = "jit(f)/jvp()/while/body/closed_call"
BACKWARD = "jit(f)/transpose(jvp())/while/body/closed_call"
AGAIN = f"{BACKWARD}/checkpoint/rematted_computation/mul"
LOOPS = f"""
0 | s | s8[4096] | 0    | 4096 | 0-1 | fusion() | {FORWARD}/split
0 | t | s8[4096] | 4096 | 4096 | 1-2 | transpose(s)
0 | m | s8[4096] | 8192 | 4096 | 2-2 | fusion(t) | {BACKWARD}/mul
0 | r | s8[4096] | 8192 | 4096 | 3-3 | fusion() | {AGAIN}
"""


def kept(value, physical_bytes, *, of_checkpoint):
    """Return a row of lifetime/kept-for-backward."""
    row: dict[str, Cell] = {
        "value": value,
        "recomputed": False,
        "physicalBytes": physical_bytes,
        "ofCheckpoint": of_checkpoint,
    }
    return row


@pytest.mark.parametrize(("checkpointed", "count"), [("loss", 0), ("layers", 1)])
def test_a_stack_that_is_transposed_first_belongs_to_the_loop_that_reads_it(
    programs, checkpointed, count
):
    program = programs("0 | 12288 | preallocated-temp", LOOPS)
    known = program.instructions
    for name in ("layers", "loss"):
        known[name] = known["t"]._replace(name=name, opcode="while")
    known["m"] = known["m"]._replace(loop="layers")
    known["r"] = known["r"]._replace(loop=checkpointed)
    row = kept("s", 4096, of_checkpoint=False)
    assert len(list(kept_by_checkpoints(program, [row], knows_merged=False))) == count


@pytest.mark.parametrize(("loop", "count"), [("microbatches", 0), (None, 1)])
def test_what_an_iteration_keeps_for_its_own_backward_pass_is_no_stack(programs, loop, count):
    program = programs("0 | 12288 | preallocated-temp", LOOPS)
    for name, known in program.instructions.items():
        program.instructions[name] = known._replace(loop=loop)
    row = kept("s", 4096, of_checkpoint=False)
    assert len(list(kept_by_checkpoints(program, [row], knows_merged=False))) == count


def test_a_stack_of_one_value_is_no_activation(programs):
    program = programs(
        "0 | 16384 | preallocated-temp",
        f"""
        0 | w       | f32[64]   | 0    | 256  | 0-4 | parameter(0)
        0 | z       | f32[8,64] | 1024 | 2048 | 1-4 | broadcast()
        0 | s       | f32[8,64] | 1024 | 2048 | 2-4 | fusion(z, w)
        0 | loop{{1}} | f32[8,64] | 1024 | 2048 | 3-4 | while(z) | w
        0 | r       | f32[64]   | 8192 | 256  | 4-4 | fusion(loop{{1}}) | {BACKWARD}/checkpoint
        """,
    )
    share_one_buffer_set(program, "z", "s", "loop{1}")
    known, values = program.instructions, program.compilation.values
    known["s"] = known["s"]._replace(loop="loop", fused_opcodes=("dynamic-update-slice",))
    stack = program.by_label["s"]
    values[stack.value_id] = stack._replace(stack_loop="loop", stack_turns=8)
    vars(program)["backward_stacks"] = {program.by_label["loop{1}"].value_id}
    row = kept("loop{1}", 2048, of_checkpoint=True)
    assert list(kept_by_checkpoints(program, [row], knows_merged=False)) == []


@pytest.mark.parametrize(("opcode", "count"), [("convert", 0), ("exponential", 1)])
def test_an_input_that_is_converted_for_a_loop_is_no_stack(programs, opcode, count):
    program = programs(
        """
        0 | 2048 | parameter 0, shape |f32[8,64]| at ShapeIndex {}
        1 | 16384 | preallocated-temp
        """,
        f"""
        0 | w | f32[8,64]  | 0    | 2048 | 0-4 | parameter(0)
        1 | c | bf16[8,64] | 2048 | 1024 | 1-2 | {opcode}(w) | jit(f)/jvp()/while
        1 | s | bf16[8,64] | 3072 | 1024 | 2-4 | copy(c) | jit(f)/jvp()/while
        1 | m | f32[64]    | 8192 | 256  | 3-3 | fusion(s) | {BACKWARD}/checkpoint/mul
        1 | r | f32[64]    | 8448 | 256  | 4-4 | fusion(s) | {AGAIN}
        """,
    )
    row = kept("s", 1024, of_checkpoint=True)
    assert len(list(kept_by_checkpoints(program, [row], knows_merged=False))) == count
