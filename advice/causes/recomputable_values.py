"""Tell values that a checkpoint removes from those that it keeps, such as a loop's carries."""

from collections.abc import Iterator
from math import prod
from typing import Final

from xlagraph.advice.causes.copied_inputs import input_of
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.op_names import primitive
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import MOVED_ELEMENTS

_WRITING: Final = MOVED_ELEMENTS | {
    "dynamic-update-slice", "select", "broadcast", "constant", "compare",
}  # fmt: skip
"""Opcodes of a fusion that stacks what it reads; a TPU selects zeros in the first iteration."""


def is_recomputable(program: PeakProgram, label: str) -> bool:
    """Return False for values that no checkpoint around what computes them removes.

    These are copies of inputs, also those in another type that the compiler takes out of a loop,
    stacks of carries, also in another type or order, or that others read too, and values of no
    gradient's pass.
    """
    value = program.by_label.get(label)
    if value is None or program.is_copy_of_input(label):
        return False
    # what the compiler takes out of a loop has the op name of the loop
    if primitive(value.attributed_op_name) == "while" and input_of(program, value) is not None:
        return False
    stacks = (program.stack_of(program.values[each]) for each in program.sources_of(value))
    if any(stack is not None and is_stacked_carry(program, stack) for stack in stacks):
        return False
    if program.stack_of(value) is not None and value.value_id not in program.backward_stacks:
        return False
    name = value.known_op_name or ""
    is_outside = "/" in name and "jvp(" not in name
    return not (is_outside and program.framework == "jax")


def is_stacked_carry(program: PeakProgram, stack: StoredValue) -> bool:
    """Return True for a stack of its loop's carries, which no checkpoint recomputes."""
    return any(
        known.is_phi and program.instructions[known.name].loop == stack.stack_loop
        for each in _parts(program, stack)
        for member in program.members_of(program.values[program.origin_of(each.value_id)])
        if (known := program.values[member.value_id]).opcode == "parameter"
    )


def _parts(program: PeakProgram, stack: StoredValue) -> Iterator[StoredValue]:
    """Yield what an iteration writes into a stack, or what a fusion reads that writes it."""
    size = prod(stack.dimensions[1:])
    if stack.stack_element is not None:
        made = program.made_by.get(stack.stack_element, ())
        yield from (each for each in made if len(made) == 1 or prod(each.dimensions) == size)
    for member in program.members_of(stack):
        name = program.values[member.value_id].name
        if program.instructions[name].computes_only(_WRITING):
            read = (program.values[each] for each in program.read_by.get(name, ()))
            yield from (each for each in read if prod(each.dimensions) == size)
