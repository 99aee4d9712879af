"""Find what is computed of a loop's stack for each iteration apart: the loop could compute it.

_, xs = jax.lax.scan(f, x, None, length=n)
mean = jnp.exp(-(xs**2)).mean(0)        the squares, and their sum, need no stack
"""

from collections.abc import Collection
from math import isqrt, prod
from typing import Final

from xlagraph.advice.causes.axes import Axes
from xlagraph.advice.causes.loop_states import is_known_in_loop
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.reduction_steps import is_step
from xlagraph.hlo.opcodes import PASSING_ON
from xlagraph.hlo.overwriting import ELEMENTWISE
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.dimension_trees import arrays
from xlagraph.planner.dimensions.module_operations import Operation
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_OF_EACH: Final = (
    (ELEMENTWISE - {"rng"})
    | SAME_ELEMENTS
    | {"broadcast", "dot", "fusion", "pad", "reduce", "slice"}
)
"""Opcodes that compute a part of what they keep the dimension of from that part of operands."""


def may_be_mapped(program: PeakProgram, stack: StoredValue, ids: Collection[int]) -> bool:
    """Return True if the forward pass computes parts for each iteration, next to the loop.

    A quick first test: following the dimensions of a large module takes seconds.
    """
    around = program.instructions[stack.stack_loop or ""].loop
    return any(
        program.instructions[name].loop == around
        and any(each % (stack.stack_turns or each + 1) == 0 for each in made.dimensions)
        and not made.is_backward
        for name in _readers(program, ids)
        for made in program.made_by.get(name, ())
    )


def mapped_forms(axes: Axes, stack: StoredValue, ids: Collection[int]) -> frozenset[int]:
    """Return a stack's ids and those of all that is computed of it for each iteration apart.

    Empty if the program returns any of it, or if something else depends on several iterations,
    other than by a reduction of all. What is small the loop can stack instead.
    """
    program, lengths = axes.program, axes.in_order(stack)
    if not lengths or axes.length(lengths[0]) != stack.stack_turns:
        return frozenset()
    found, waiting = set(ids), list(ids)
    while waiting:
        for name in _readers(program, (waiting.pop(),)):
            made = program.made_by.get(name, ())
            has_axis = [lengths[0] in axes.of(each) for each in made]
            new = {each.value_id for each in made} - found
            is_written = any(each.value_id in ids for each in made)
            if not any(has_axis) or not new or is_written:
                continue
            read = program.read_by[name]
            if (
                not all(has_axis)
                or not all(
                    _is_known(axes, stack, found, program.values[each], set()) for each in read
                )
                or not _is_of_each(axes, name, lengths[0])
            ):
                return frozenset()
            if any(2 * each.size_bytes > stack.size_bytes for each in made):
                found |= new
                waiting += new
    is_returned = any(
        member.lives_out
        for each in found - set(ids)
        for member in program.members_of(program.values[each])
    )
    return frozenset() if is_returned else frozenset(found)


def _is_known(
    axes: Axes, stack: StoredValue, found: Collection[int], value: StoredValue, seen: set[int]
) -> bool:
    """Return True for what the loop knows, or could compute for each iteration of what it knows.

    For example one of the values found, or the norm of each part of them.
    """
    program, axis = axes.program, axes.in_order(stack)[0]
    if value.value_id in found or value.value_id in seen:
        return True
    if is_known_in_loop(program, stack, value):
        return True
    if axis not in axes.of(value) or not (
        is_step(program.instructions.get(value.name)) or _is_of_each(axes, value.name, axis)
    ):
        return False
    seen.add(value.value_id)
    return all(
        _is_known(axes, stack, found, program.values[each], seen)
        for each in program.read_by[value.name]
    )


def is_read_one_by_one(
    program: PeakProgram, instruction: str, ids: Collection[int], stack: StoredValue
) -> bool:
    """Return True if no array is read with a stack that is known only after the loop."""
    return all(
        each in ids
        or 2 * (value := program.values[each]).size_bytes < stack.size_bytes
        or is_known_in_loop(program, stack, value)
        for each in program.read_by[instruction]
    )


def adds_iterations(
    program: PeakProgram, instruction: str, ids: Collection[int], stack: StoredValue
) -> bool:
    """Return True for a product that adds up all iterations, if its factors are known in the loop.

    These are the stack, stacks of the same loop, and what does not depend on the loop. The lengths
    show what is added: the product of those of both factors has each of them twice.
    """
    if not program.computes_with(instruction, "dot"):
        return False
    read = program.read_by[instruction]
    others = [program.values[each] for each in read if each not in ids]
    if not all(is_known_in_loop(program, stack, each) for each in others):
        return False
    factors = prod(prod(each.dimensions) for each in others or [stack]) * prod(stack.dimensions)
    return all(
        stack.stack_turns not in made.dimensions
        and isqrt(added := factors // prod(made.dimensions)) ** 2 == added
        and isqrt(added) % (stack.stack_turns or factors) == 0
        for made in program.made_by.get(instruction, ())
    )


def _readers(program: PeakProgram, ids: Collection[int]) -> list[str]:
    names = (name for each in ids for name in program.readers_of.get(each, ()))
    return [name for name in names if program.instructions[name].opcode not in PASSING_ON]


def _is_of_each(axes: Axes, instruction: str, axis: int) -> bool:
    """Return True if no op of an instruction mixes the parts along a dimension."""
    operation = axes.program.operations.get(instruction)
    if operation is None:
        return False

    def has_axis(name: str) -> bool:
        found = axes.followed.results.get(name)
        return found is not None and any(axis in axes.parts(each) for each in arrays(found))

    def keeps(each: Operation) -> bool:
        is_read = any(has_axis(read.name) for read in each.operands)
        return not is_read or (each.opcode in _OF_EACH and has_axis(each.name))

    return all(map(keeps, (operation, *axes.program.fused_operations(operation))))
