"""Programs of a few instructions, written by hand."""

from tests.planner.small_programs import program, value
from xlagraph.planner.orders.ordered_program import reordering
from xlagraph.planner.orders.schedulable import (
    SchedulableComputation,
    SchedulableInstruction,
    SchedulableProgram,
    SchedulableValue,
)


def schedulable(*rows, callees=None):
    """Return a program of one computation; a row is a name, its operands, and the bytes it defines.

    A name is an opcode with a number; the last row is the root. Its result lives out.
    """
    steps = {name: step for step, (name, _, _) in enumerate(rows)}
    operands = [tuple(steps[each] for each in read.split()) for _, read, _ in rows]
    instructions = tuple(
        SchedulableInstruction(
            name, name.rstrip("0123456789"), read, (), (), size, size, size == 4, step
        )
        for step, ((name, _, size), read) in enumerate(zip(rows, operands, strict=True))
    )
    values = tuple(
        SchedulableValue(
            step,
            step,
            (step,),
            tuple(user for user, read in enumerate(operands) if step in read),
            step,
            size,
        )
        for step, (_, _, size) in enumerate(rows)
        if size
    )
    main = SchedulableComputation("main", tuple(range(len(rows))), len(rows) - 1)
    return SchedulableProgram(instructions, {"main": main}, "main", values)


def reorderable(*rows, overwrites=None):
    """Return the reordering of a program whose values are all in one heap."""
    program_ = schedulable(*rows)
    ends = {
        each.value_id: len(rows)
        if each.defined_at == len(rows) - 1
        else max((each.defined_at, *each.uses))
        for each in program_.values
    }
    planned = program(
        *[
            value(each.value_id, each.defined_at, ends[each.value_id], each.size_bytes)
            for each in program_.values
        ],
        overwrites=overwrites,
    )
    return reordering(planned, program_)


def names(program_, steps):
    return " ".join(program_.instructions[step].name for step in steps)
